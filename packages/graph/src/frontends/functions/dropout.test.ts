import { Tensor } from '@tilewise/core';
import { cpuEngine, sdpa, sdpaBackward } from '@tilewise/core/cpu';
import { describe, expect, test } from 'vitest';
import {
  attention,
  compile,
  dropout,
  evalShape,
  greater,
  multiply,
  reduceSum,
  type Variable,
  valueAndGrad,
} from './index.ts';

const engine = cpuEngine();
const shape = [1, 2, 8, 8];
const wave = (step: number, dtype: 'f32' | 'f16' = 'f32'): Tensor =>
  Tensor.from(
    Array.from({ length: 128 }, (_, n) => Math.sin(step * n)),
    shape,
    { dtype },
  );
// Neither f32 nor f16 has these numbers.
const streams: (readonly [number | bigint, number | bigint])[] = [
  [2 ** 24 + 1, 2 ** 33 + 4],
  [2n ** 60n + 1n, 3n],
  [7, 0],
];

describe.each(streams)('with the seed %s and the offset %s as numbers of the program', (seed, offset) => {
  test.each(['f32', 'f16'] as const)('attention on %s draws the mask of this seed', async dtype => {
    const q = wave(1, dtype);
    const specs = { q: { shape, dtype } };
    const f = compile(engine, ({ q }) => attention(q, q, q, { dropout: { p: 0.5, seed, offset } }), specs);
    const expected = sdpa(q, q, q, { dropout: { p: 0.5, seed, offset, scheme: 'onednn' } }).o;
    expect((await f({ q })).toFloat32()).toEqual(expected.toFloat32());
    f.release();
  });

  test('the operation Dropout draws the same mask as for bound numbers', async () => {
    const constant = compile(engine, ({ x }) => dropout(x, seed, offset, { p: 0.5 }), { x: shape });
    const number = { shape: [], dtype: 'i64' } as const;
    const specs = { x: shape, seed: number, offset: number };
    const bound = compile(engine, ({ x, seed, offset }) => dropout(x, seed, offset, { p: 0.5 }), specs);
    const x = wave(1);
    expect((await constant({ x })).toFloat32()).toEqual((await bound({ x, seed, offset })).toFloat32());
    constant.release();
    bound.release();
  });
});

test.each(['onednn', 'torch-efficient', 'flash-attention-2'] as const)(
  'attention draws the masks of %s, also for gradients',
  async scheme => {
    const [q, w] = [wave(1), wave(2)];
    const loss = ({ q, w }: Record<'q' | 'w', Variable>) => {
      const o = attention(q, q, q, { dropout: { p: 0.5, seed: 7, offset: 3, scheme } });
      return reduceSum(multiply(o, w), { axes: [0, 1, 2, 3] });
    };
    const f = compile(engine, valueAndGrad(loss, ['q']), { q: shape, w: shape });
    const got = (await f({ q, w })).gradients.q.toFloat32();
    const options = { dropout: { p: 0.5, seed: 7, offset: 3, scheme } };
    const { o, lse } = sdpa(q, q, q, options);
    const { dq, dk, dv } = sdpaBackward({ q, k: q, v: q, o, lse, dO: w }, options);
    const parts = [dq, dk, dv].map(t => t.toFloat32());
    for (const [n, x] of got.entries()) expect(x).toBeCloseTo(parts[0][n] + parts[1][n] + parts[2][n], 5);
    f.release();
  },
);

test('the offset is 0 unless given', async () => {
  const q = wave(1);
  const f = compile(engine, ({ q }) => attention(q, q, q, { dropout: { p: 0.5, seed: 7 } }), { q: shape });
  const expected = sdpa(q, q, q, { dropout: { p: 0.5, seed: 7, scheme: 'onednn' } }).o;
  expect((await f({ q })).toFloat32()).toEqual(expected.toFloat32());
  f.release();
});

test('a constant that its dtype cannot represent is refused, not truncated', () => {
  const whole = { x: { shape: [2], dtype: 'i32' } } as const;
  expect(() => evalShape(({ x }) => greater(x, 1.5), whole)).toThrow('must be an integer in [-2147483648');
  expect(() => evalShape(({ x }) => dropout(x, 1.5, 0, { p: 0.5 }), { x: [2] })).toThrow('a safe integer');
  expect(() =>
    evalShape(({ q }) => attention(q, q, q, { dropout: { p: 0.5, seed: 0.5 } }), { q: shape }),
  ).toThrow('a safe integer');
});
