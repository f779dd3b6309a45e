import { describe, expect, test, vi } from 'vitest';
import { normal } from '../../../../testing/normal.ts';
import { normalise, normaliseBackward } from '../../../attention/call/normalise.ts';
import type { BackwardInputs, SdpaBackwardOptions, SdpaOptions } from '../../../attention/options/options.ts';
import type { GradientName } from '../../../attention/problem/problem.ts';
import { add, load, sub } from '../../../expr/build.ts';
import { scoreMod } from '../../../expr/mods/mod.ts';
import { sdpa as exactSdpa } from '../../../reference/sdpa.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { createKernels, supportedVariants } from '../../kernels/host-kernels.ts';
import { sdpa, sdpaBackward } from '../../sdpa.ts';
import { backward } from '../backward/backward.ts';
import { forward } from '../forward/forward.ts';
import type { TileSize } from './tile-size.ts';

const q = normal([2, 4, 70, 16], 1);
const k = normal([2, 2, 150, 16], 2);
const v = normal([2, 1, 150, 12], 3);
const dO = normal([2, 4, 70, 12], 4);
const everything: SdpaOptions = {
  causal: 'bottom-right',
  window: { left: 90 },
  bias: normal([4, 1, 150], 5),
  mask: Tensor.from(
    normal([70, 150], 6)
      .toFloat32()
      .map(x => Number(x > -1)),
    [70, 150],
    { dtype: 'bool' },
  ),
  alibi: [0.1, 0.2, 0.3, 0.4],
  softcap: 5,
  sink: [0, 1, 2, 3],
  seqLensKv: [150, 131],
  dropout: { p: 0.2, seed: 7, offset: 11 },
};

const [kernels] = supportedVariants().map(createKernels);

function run(options: SdpaBackwardOptions<Tensor, GradientName>, tiles?: TileSize) {
  const call = normalise({ q, k, v }, options);
  const { o, lse } = forward(call.problem, call.operands, { kernels, tiles });
  const inputs: BackwardInputs<Tensor> = { q, k, v, o, lse, dO, dLse: normal([2, 4, 70], 8) };
  const back = normaliseBackward(inputs, options);
  return { o, lse, ...backward(back.problem, back.operands, { kernels, tiles }).gradients };
}

const bits = (results: ReturnType<typeof run>) =>
  Object.fromEntries(Object.entries(results).map(([name, t]) => [name, [...new Uint32Array(t.data.buffer)]]));

test('two runs agree bit by bit', () => {
  expect(bits(run(everything))).toEqual(bits(run(everything)));
});

test('each gradient alone equals that of the full run, bit by bit', () => {
  const { o: _o, lse: _lse, ...full } = bits(run(everything));
  for (const [name, expected] of Object.entries(full)) {
    const alone = bits(run({ ...everything, gradients: [name as GradientName] }));
    expect(Object.keys(alone).sort()).toEqual(['lse', 'o', name].sort());
    expect(alone[name], name).toEqual(expected);
  }
});

// Every f32 rounding of a partial sum is 2^-24 of it, and a row of 150 keys has at most 38 tiles of 4.
test.each([
  { rows: 1, columns: 8 },
  { rows: 7, columns: 24 },
  { rows: 33, columns: 64 },
  { rows: 70, columns: 152 },
])('tiles of $rows × $columns give the same up to rounding', tiles => {
  const usual = run(everything);
  const other = run(everything, tiles);
  for (const [name, t] of Object.entries(usual)) {
    const a = t.toFloat32();
    const b = other[name as 'o'].toFloat32();
    const largest = a.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 1);
    const allowed = 38 * 2 ** -24 * largest;
    // Infinities are equal; a NaN is within no error.
    const beyond = [...a.keys()].filter(n => a[n] !== b[n] && !(Math.abs(a[n] - b[n]) < allowed));
    expect(beyond, name).toEqual([]);
  }
});

describe('tiles of which nothing is seen', () => {
  const S = 256;
  const tiles = 4;
  const x = normal([1, 1, S, 4], 9);
  function productsOf(options: SdpaOptions): number {
    const multiplyScores = vi.fn(kernels.multiplyScores);
    const { problem, operands } = normalise({ q: x, k: x, v: x }, options);
    forward(problem, operands, {
      kernels: { ...kernels, multiplyScores },
      tiles: { rows: 64, columns: 64 },
    });
    return multiplyScores.mock.calls.length;
  }
  const blocks = (bytes: readonly number[]) => Tensor.from(bytes, [1, 1, 2, 1], { dtype: 'u8' });

  test('are not computed', () => {
    expect(productsOf({})).toBe(tiles * tiles);
    expect(productsOf({ causal: true })).toBe(10);
    expect(productsOf({ window: { left: 0, right: 0 } })).toBe(4);
    expect(productsOf({ seqLensKv: [65], seqLensQ: [1] })).toBe(2);
    expect(productsOf({ blockMask: blocks([0b01, 0b10]) })).toBe(8);
    expect(productsOf({ mask: Tensor.zeros([S], { dtype: 'bool' }) })).toBe(0);
  });

  test('do not change rows that see other tiles', () => {
    const options = { blockMask: blocks([0b00, 0b10]) };
    const { o, lse } = sdpa(x, x, x, options);
    const exact = exactSdpa(x, x, x, options);
    expect(lse.get(0, 0, 0)).toBe(-Infinity);
    expect(o.get(0, 0, 255, 3)).toBeCloseTo(exact.o.get(0, 0, 255, 3), 5);
  });
});

test('a score mod is never evaluated for a hidden pair', () => {
  // The table has exactly one entry for every distance that the causal mask admits.
  const table = normal([70], 10);
  const square = normal([1, 1, 70, 4], 11);
  const mod = scoreMod(({ score, q: i, kv }) => add(score, load('table', [sub(i, kv)])), { table });
  const options = { causal: true, scoreMod: mod };
  const { o, lse } = sdpa(square, square, square, options);
  const { dCaptures } = sdpaBackward({ q: square, k: square, v: square, o, lse, dO: o }, options);
  expect(o.get(0, 0, 69, 0)).toBeCloseTo(exactSdpa(square, square, square, options).o.get(0, 0, 69, 0), 5);
  expect(dCaptures?.table.shape).toEqual([70]);
});
