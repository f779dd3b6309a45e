import { type DType, Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { add, mul, tanh } from '@tilewise/core/expr';
import { hostPrimitives, input, type Primitive, reduced } from '@tilewise/core/primitive';
import { normalInputs } from '@tilewise/device-report/measure';
import { type Suite, UsageError, WrongResult } from '../suite/suite.ts';
import type { Row } from '../suite/table.ts';
import { wasmMatmul } from '../wasm/wasm-matmul.ts';

interface Case {
  readonly name: string;
  readonly primitive: Primitive;
  readonly inputs: readonly Tensor[];
  readonly shape: readonly number[];
  readonly dtype: DType;
  /** Multiplications and additions in matrix products. */
  readonly flops?: number;
}

/**
 * The primitives of the CPU engine next to the same primitives in float64, and matrix products next to the
 * peak of WebAssembly.
 */
export const operations: Suite = {
  name: 'operations',
  summary:
    'primitives of the CPU engine on one thread, next to those of the reference engine in float64; matrix products next to a plain ' +
    'WebAssembly matmul of tiles in the cache (target: 0.7)',
  options: { size: { value: 'N', meaning: 'matrices of N × N, instead of 512 × 512 and 1024 × 1024' } },
  async run({ size }, progress) {
    if (size !== undefined && !(Number.isSafeInteger(Number(size)) && Number(size) >= 1))
      throw new UsageError(`--size must be a whole number of at least 1, got '${size}'.`);
    const engine = cpuEngine({ threads: 1 });
    const product = await wasmMatmul(128, engine.description.includes('relaxed'));
    const rows: Row[] = [];
    for (const given of casesOf(size === undefined ? null : Number(size))) {
      progress(given.name);
      const { primitive, inputs, shape, dtype, flops } = given;
      const [out, expected] = [Tensor.zeros(shape, { dtype }), Tensor.zeros(shape, { dtype })];
      const prepared = engine.primitives.prepare(primitive, inputs, [out]);
      const onHost = hostPrimitives.prepare(primitive, inputs, [expected]);
      const best = { own: Infinity, host: Infinity, matmul: Infinity };
      for (let round = 0; round < ROUNDS; round++) {
        best.host = Math.min(
          best.host,
          timed(() => onHost.run(inputs, [expected])),
        );
        for (let n = 0; n < 5; n++)
          best.own = Math.min(
            best.own,
            timed(() => prepared.run(inputs, [out])),
          );
        best.matmul = Math.min(
          best.matmul,
          timed(() => repeat(100, product.run)),
        );
      }
      checkSame(given, out, expected);
      const gflops = flops && flops / best.own / 1e6;
      const matmul = (100 * product.flops) / best.matmul / 1e6;
      rows.push({
        ...{ operation: given.name, shape: shape.join('×'), dtype, ms: best.own, 'reference ms': best.host },
        ...{
          'times as fast': best.host / best.own,
          'GFLOP/s': gflops ?? '',
          '/matmul': gflops ? gflops / matmul : '',
        },
        on: engine.description,
      });
    }
    return rows;
  },
};

function casesOf(size: number | null): Case[] {
  const [n, m] = [size ?? 512, size ?? 1024];
  const matrix = (extent: number, dtype: DType, name: 'a' | 'b'): Tensor =>
    normalInputs(['a', 'b'], [extent, extent])[name].cast(dtype);
  const matmul = (dtype: DType, name: string, swap: (t: Tensor) => Tensor): Case => ({
    name,
    primitive: { kind: 'matmul' },
    inputs: [matrix(n, dtype, 'a'), swap(matrix(n, dtype, 'b'))],
    ...{ shape: [n, n], dtype, flops: 2 * n ** 3 },
  });
  const x = input(0);
  const inner = mul(Math.sqrt(2 / Math.PI), add(x, mul(0.044715, mul(x, mul(x, x)))));
  const gelu = mul(mul(0.5, x), add(1, tanh(inner)));
  const one = [matrix(m, 'f32', 'a')];
  const whole = { shape: [m, m], dtype: 'f32' } as const;
  const sum = { kind: 'reduce', op: 'sum', domain: [m, m], element: x, result: reduced } as const;
  return [
    matmul('f32', 'A·B', b => b),
    matmul('f32', 'A·Bᵀ', b => b.permute(1, 0)),
    matmul('bf16', 'A·B', b => b),
    { name: 'GELU', primitive: { kind: 'map', value: gelu }, inputs: one, ...whole },
    {
      name: 'sum of two',
      primitive: { kind: 'map', value: add(x, input(1)) },
      inputs: [one[0], one[0]],
      ...whole,
    },
    {
      name: 'softmax',
      primitive: { kind: 'softmax', axis: 1, log: false, mode: 'none' },
      inputs: one,
      ...whole,
    },
    { name: 'sum of rows', primitive: { ...sum, axes: [1] }, inputs: one, ...whole, shape: [m, 1] },
    { name: 'sum of columns', primitive: { ...sum, axes: [0] }, inputs: one, ...whole, shape: [1, m] },
  ];
}

/** Measures each in turn, so that a busy machine slows all of them down alike. */
const ROUNDS = 8;

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function repeat(count: number, work: () => void): void {
  for (let n = 0; n < count; n++) work();
}

/** The tolerance: the rounding of the stored dtype, and of sums in f32. */
function checkSame({ name, dtype }: Case, got: Tensor, want: Tensor): void {
  const expected = want.toFloat32();
  const largest = expected.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const tolerance = (dtype === 'bf16' ? 2 ** -8 : 1e-5) * largest;
  const wrong = got.toFloat32().findIndex((x, n) => !(Math.abs(x - expected[n]) <= tolerance));
  if (wrong >= 0) throw new WrongResult(`${name}: element ${wrong} differs from the reference`);
}
