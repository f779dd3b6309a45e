import { expect, test } from 'vitest';
import type { SdpaOptions } from '../../../attention/options/options.ts';
import { sdpa as exact } from '../../../reference/index.ts';
import type { DType } from '../../../tensor/dtype/dtype.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { cpuEngine } from '../../engine.ts';

const wave = (shape: readonly number[], seed: number, dtype: DType = 'f32'): Tensor => {
  const count = shape.reduce((product, extent) => product * extent, 1);
  return Tensor.from(
    Array.from({ length: count }, (_, n) => Math.sin(seed + 0.7 * n + 1e-3 * n * n)),
    shape,
    { dtype },
  );
};
const lengths = (...values: number[]) => Tensor.from(values, [values.length], { dtype: 'i32' });

test.each<readonly [string, SdpaOptions<Tensor>]>([
  ['all keys', {}],
  ['keys up to lengths', { seqLensKv: lengths(37, 1) }],
  ['no keys', { seqLensKv: lengths(0, 9) }],
  ['no query', { seqLensQ: lengths(0, 1) }],
  ['the last keys of each', { causal: 'bottom-right', window: { left: 6 }, seqLensKv: lengths(37, 20) }],
  ['the first key', { causal: true }],
])('one query of each head sees %s, of every storage and layout', async (_, options) => {
  const engine = cpuEngine({ threads: 1 });
  for (const [dtype, D] of [
    ['f32', 16],
    ['f16', 13],
    ['bf16', 24],
  ] as const) {
    const q = wave([2, 6, 1, D], 1);
    // Keys are stored by position, values by head.
    const k = wave([2, 50, 2, D], 2, dtype).permute(0, 2, 1, 3);
    const v = wave([2, 2, 50, D], 3, dtype);
    const expected = exact(q, k, v, options);
    for (const place of [(t: Tensor) => t, (t: Tensor) => engine.upload(t)]) {
      const { o, lse } = await engine.sdpa(place(q), place(k), place(v), options);
      const wanted = [...expected.o.toFloat64(), ...expected.lse.toFloat64()];
      [...o.toFloat64(), ...lse.toFloat64()].forEach((x, n) => {
        if (Number.isFinite(wanted[n])) expect(Math.abs(x - wanted[n])).toBeLessThan(3e-6);
        else expect(x).toBe(wanted[n]);
      });
    }
  }
});

test('values after the keys of a sequence do not leak', async () => {
  const [q, k, v] = [wave([1, 2, 1, 8], 1), wave([1, 1, 20, 8], 2), wave([1, 1, 20, 8], 3)];
  const expected = exact(q, k, v, { seqLensKv: lengths(11) });
  for (const t of [k, v]) t.data.fill(Number.NaN, 11 * 8);
  const { o } = await cpuEngine({ threads: 1 }).sdpa(q, k, v, { seqLensKv: lengths(11) });
  const wanted = expected.o.toFloat64();
  o.toFloat64().forEach((x, n) => {
    expect(Math.abs(x - wanted[n])).toBeLessThan(2e-6);
  });
});
