import type {
  BackwardInputs,
  dequantiseMxfp8,
  FormatP,
  Fp8Options,
  MaskDropout,
  Mxfp8Options,
  OutputSelection,
  PhiloxDropout,
  quantiseMxfp8,
  RaggedOffsets,
  SdpaBackwardOptions,
  SdpaOptions,
  Window,
} from '@tilewise/core';
import { Tensor } from '@tilewise/core';
import type { CpuEngineOptions } from '@tilewise/core/cpu';
import type { BlockMaskOptions } from '@tilewise/core/expr';
import type { AttentionRun } from '@tilewise/core/primitive';
import { sdpa, sdpaBackward } from '@tilewise/core/reference';
import { type Closed, none } from './optional.ts';

none<Closed<SdpaOptions>>();
none<Closed<SdpaBackwardOptions>>();
none<Closed<BackwardInputs<Tensor>>>();
none<Closed<Window>>();
none<Closed<PhiloxDropout>>();
none<Closed<MaskDropout<Tensor>>>();
none<Closed<OutputSelection>>();
none<Closed<RaggedOffsets>>();
none<Closed<Fp8Options>>();
none<Closed<FormatP>>();
none<Closed<Mxfp8Options>>();
none<Closed<NonNullable<Parameters<typeof Tensor.from>[2]>>>();
none<Closed<NonNullable<Parameters<typeof Tensor.zeros>[1]>>>();
none<Closed<Parameters<typeof Tensor.wrap>[1]>>();
none<Closed<NonNullable<Parameters<Tensor['cast']>[1]>>>();
none<Closed<NonNullable<Parameters<typeof quantiseMxfp8>[1]>>>();
none<Closed<NonNullable<Parameters<typeof dequantiseMxfp8>[1]>>>();
none<Closed<CpuEngineOptions>>();
none<Closed<BlockMaskOptions>>();
none<Closed<AttentionRun<Tensor>>>();

/** A caller can pass on options that may be undefined. */
export function attention(maybe: { readonly scale?: number; readonly causal?: boolean }): Tensor {
  const { scale, causal } = maybe;
  const x = Tensor.zeros([1, 1, 2, 8]);
  const { o, lse } = sdpa(x, x, x, { scale, causal, window: undefined });
  return sdpaBackward({ q: x, k: x, v: x, o, lse, dO: x, dLse: undefined }, { scale, causal }).dq;
}

/** A Blob accepts the numbers, because threads do not share their memory. */
export const numbers = (t: Tensor): Blob => new Blob([t.toFloat32(), t.toFloat64()]);
