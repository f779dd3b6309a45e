import type { Tensor } from '../../src/tensor/tensor.ts';
import { B, type BrokenCall, D, dtype, f32, H, S, shape, typed, value } from './call.ts';

const large = f32(1, H, S, D).expand([2 ** 14, H, S, D]);

/** The broken calls in which q, k, v or o is wrong. */
export const operandCalls: readonly BrokenCall[] = [
  ...(['q', 'k', 'v'] as const).flatMap(name => [
    value(name, /must be a tensor, got Array/, { inputs: { [name]: [1, 2] as unknown as Tensor } }),
    shape(name, /must have rank 4.*got shape \[2,4\]/, { inputs: { [name]: f32(2, 4) } }),
    shape(name, /must have rank 4.*or 3.*cuSeqLens/, { inputs: { [name]: f32(2, 2, 4) } }),
    dtype(name, /must be f32, f16, .*, got i32/, { inputs: { [name]: typed('i32', B, H, S, D) } }),
  ]),
  shape('q', /must have rank 3/, {
    inputs: { q: f32(2, 4) },
    options: { raggedOffsets: { q: [0, 4, 8] }, seqLensQ: [1, 1] },
  }),
  shape('q', /at least one head.*Hq = 0/, { inputs: { q: f32(B, 0, S, D) } }),
  shape('q', /must have B · Hq ≤ 16777216, got 2147483647 · 2/, {
    inputs: { q: f32(1, H, 0, D).expand([2 ** 31 - 1, H, 0, D]) },
  }),
  shape('q', /must have B · Hq · Sq ≤ 2147483647, got 16384 · 2 · 65536/, {
    inputs: { q: f32(1, H, 1, D).expand([2 ** 14, H, 2 ** 16, D]), k: large, v: large },
  }),
  shape('k', /head size of q \(4\), got 5/, { inputs: { k: f32(B, H, S, 5) } }),
  shape('k', /divides q's 2, got 3/, { inputs: { k: f32(B, 3, S, D) } }),
  shape('v', /divides q's 2, got 0/, { inputs: { v: f32(B, 0, S, D) } }),
  shape('v', /at least one channel, got Dv = 0/, { inputs: { v: f32(B, H, S, 0) } }),
  shape('k', /batch size of q \(2\), got 1/, { inputs: { k: f32(1, H, S, D) } }),
  shape('v', /batch size of q \(2\), got 3/, { inputs: { v: f32(3, H, S, D) } }),
  shape('v', /as many positions as k \(3\), got 4/, { inputs: { v: f32(B, H, 4, D) } }),
  dtype('outDType', /must be f32, f16, .*, got u8/, { options: { outDType: 'u8' } }),
];
