import { type DType, elementCount, Tensor } from '@tilewise/core';
import { hostPrimitives, type Primitive } from '@tilewise/core/primitive';
import { fillNormal } from '@tilewise/philox';
import { errorOf } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { runOnGpu } from '../../../testing/primitive/primitive-run.ts';
import { swiftShader } from '../../device/capabilities/broadcasting.ts';
import { createContext, type GpuContext, guaranteedCapabilities, webgpuEngine } from '../../index.ts';
import { matmulKernels } from './matmul.ts';

let streams = 0;
function normal(shape: readonly number[], dtype: DType = 'f32'): Tensor {
  const n = elementCount(shape);
  const values = fillNormal(new Float32Array(n), { seed: 7, subsequence: streams++ });
  return Tensor.from(values, shape, { dtype });
}

/** A tensor with the same values and these strides, and with NaN in its gaps. */
function laidOut(tensor: Tensor, strides: readonly number[], fill = NaN): Tensor {
  const spread = Tensor.from(tensor.toFloat32(), tensor.shape, { dtype: tensor.dtype, strides });
  const used = new Set<number>();
  const walk = (d: number, at: number): void => {
    if (d === tensor.shape.length) used.add(at);
    else for (let i = 0; i < tensor.shape[d]; i++) walk(d + 1, at + i * strides[d]);
  };
  walk(0, 0);
  const [code] = Tensor.from([fill], [1], { dtype: tensor.dtype }).data;
  spread.data.forEach((_, at) => {
    if (!used.has(at)) spread.data[at] = code;
  });
  return spread;
}

const matmul: Primitive = { kind: 'matmul' };

/** The product on the GPU, laid out as `c`. */
async function onGpu(a: Tensor, b: Tensor, c: Tensor, ctx?: GpuContext): Promise<Tensor> {
  const [{ data }] = await runOnGpu(matmul, [a, b], [c], ctx);
  return Tensor.wrap(data, c);
}

const roundoff: Readonly<Partial<Record<DType, number>>> = {
  ...{ f16: 2 ** -11, bf16: 2 ** -8, f8e4m3: 2 ** -4, f8e5m2: 2 ** -3 },
};

const product = (a: Tensor, b: Tensor, shape: readonly number[]): Tensor => {
  const c = Tensor.zeros(shape);
  hostPrimitives.prepare(matmul, [a, b], [c]).run([a, b], [c]);
  return c;
};

const largestOf = (t: Tensor): number => t.toFloat64().reduce((most, x) => Math.max(most, Math.abs(x)), 0);

const magnitudes = (t: Tensor): Tensor => Tensor.from(t.toFloat32().map(Math.abs), t.shape);

/**
 * Expects the C of the host, which sums in f64. Each of the K additions in f32 has an error of at most 2^-24
 * of the sum so far, which is at most |A|·|B|. The errors have either sign, so the tolerance is √K of them,
 * doubled to be safe, plus one rounding to the dtype of C.
 */
async function expectHost(a: Tensor, b: Tensor, c: Tensor, ctx?: GpuContext): Promise<void> {
  const want = product(a, b, c.shape);
  const got = await onGpu(a, b, c, ctx);
  const K = a.shape[a.shape.length - 1];
  const bound = 2 * Math.sqrt(K) * 2 ** -24 * largestOf(product(magnitudes(a), magnitudes(b), c.shape));
  const { max } = errorOf(got.toFloat64(), want.toFloat64());
  expect(max).toBeLessThanOrEqual(bound + largestOf(want) * (roundoff[c.dtype] ?? 0));
}

const dense = (...shape: number[]): Tensor => Tensor.zeros(shape);

describe("C = A·B equals the host's", () => {
  test.each([
    ['one element', 1, 1, 1],
    ['whole tiles', 64, 64, 32],
    ['nothing that is a multiple of four', 67, 35, 29],
    ['a row', 1, 301, 40],
    ['a column', 301, 1, 40],
    ['few rows', 13, 130, 50],
    ['few columns', 130, 13, 50],
    ['a sum that is cut into parts', 6, 10, 3001],
    ['rows of whole vectors and a sum in parts', 32, 36, 1030],
    ['one row with a sum in parts', 1, 64, 2048],
  ])('%s: %i × %i, sum of %i', async (_, M, N, K) => {
    await expectHost(normal([M, K]), normal([K, N]), dense(M, N));
  });

  test.each(['nvidia ampere', swiftShader])('many large tiles, as for %s', async adapter => {
    const { device, capabilities } = await sharedContext();
    const ctx = Object.assign(await createContext({ device }), {
      capabilities: { ...capabilities, adapter },
    });
    await expectHost(normal([700, 36]), normal([36, 720]), dense(700, 720), ctx);
    ctx.destroy();
  });

  test('a sum of nothing is 0', async () => {
    const got = await onGpu(Tensor.zeros([3, 0]), Tensor.zeros([0, 5]), normal([3, 5]));
    expect([...got.toFloat32()]).toEqual(Array(15).fill(0));
  });
});

describe('layouts', () => {
  const [M, N, K] = [40, 44, 36];
  const views = {
    'row by row': (t: Tensor) => t,
    'column by column': (t: Tensor) =>
      Tensor.from(t.permute(1, 0).toFloat32(), [t.shape[1], t.shape[0]]).permute(1, 0),
    'gaps of four': (t: Tensor) => laidOut(t, [t.shape[1] + 4, 1]),
    'gaps of one': (t: Tensor) => laidOut(t, [t.shape[1] + 1, 1]),
    'every other element': (t: Tensor) => laidOut(t, [2 * t.shape[1] + 3, 2]),
  } as const;
  const names = Object.keys(views) as (keyof typeof views)[];

  // Each layout is tested for A and for B, which the same functions read.
  test.each(names.map((a, n) => [a, names[(n + 1) % names.length]] as const))('A %s, B %s', async (a, b) => {
    await expectHost(views[a](normal([M, K])), views[b](normal([K, N])), dense(M, N));
  });

  test.each(names)('C %s', async name => {
    await expectHost(normal([M, K]), normal([K, N]), views[name](normal([M, N])));
  });

  test('rows that end in the middle of a vector are not read beyond their end', async () => {
    const [a, b] = [normal([33, 30]), normal([30, 38])];
    await expectHost(laidOut(a, [32, 1]), laidOut(b, [40, 1]), dense(33, 38));
  });
});

describe('batches', () => {
  test.each([
    ['separate', [3, 17, 20], [3, 20, 24], [3, 17, 24]],
    ['one B for all', [3, 16, 20], [20, 24], [3, 16, 24]],
    ['one A for all', [17, 20], [3, 20, 24], [3, 17, 24]],
    ['broadcast across each other', [2, 1, 5, 8], [3, 8, 6], [2, 3, 5, 6]],
    ['three dimensions that do not join', [2, 1, 2, 5, 8], [1, 3, 2, 8, 6], [2, 3, 2, 5, 6]],
    ['and a sum in parts', [2, 5, 2051], [2, 2051, 7], [2, 5, 7]],
  ])('%s', async (_, a, b, c) => {
    await expectHost(normal(a), normal(b), dense(...c));
  });

  test('heads in the middle of a token', async () => {
    const q = normal([2, 12, 3, 8]).permute(0, 2, 1, 3);
    const k = normal([2, 12, 3, 8]).permute(0, 2, 3, 1);
    await expectHost(q, k, dense(2, 3, 12, 12));
  });
});

describe('storage', () => {
  test.each(['f16', 'bf16', 'f8e4m3', 'f8e5m2'] as const)('%s in and out', async dtype => {
    await expectHost(normal([36, 40], dtype), normal([40, 44], dtype), Tensor.zeros([36, 44], { dtype }));
  });

  test.each(['f16', 'bf16', 'f8e4m3', 'f8e5m2'] as const)(
    '%s of odd sizes, transposed, with gaps',
    async dtype => {
      const a = laidOut(normal([21, 9], dtype), [11, 1]);
      const b = normal([7, 9], dtype).permute(1, 0);
      await expectHost(a, b, Tensor.zeros([21, 7], { dtype, strides: [9, 1] }));
    },
  );

  test('dtypes may differ', async () => {
    await expectHost(
      normal([8, 16], 'bf16'),
      normal([16, 12], 'f32'),
      Tensor.zeros([8, 12], { dtype: 'f16' }),
    );
  });
});

test('gaps of the result are not written', async () => {
  const c = laidOut(Tensor.zeros([4, 3], { dtype: 'f16' }), [5, 1], 7);
  const before = Tensor.wrap(c.data.slice(), c);
  expect((await onGpu(dense(4, 4), dense(4, 3), c)).data).toEqual(before.data);
});

test('tensors may start at any element', async () => {
  const shifted = (t: Tensor): Tensor => {
    const data = new Float32Array(t.data.length + 3).fill(NaN);
    data.set(t.toFloat32(), 1);
    return Tensor.wrap(data, { ...t, dtype: 'f32', shape: t.shape, strides: t.strides, offset: 1 });
  };
  const [a, b] = [normal([8, 12]), normal([12, 16])];
  expect(await onGpu(shifted(a), shifted(b), dense(8, 16))).toEqual(await onGpu(a, b, dense(8, 16)));
});

test('a sum in parts has the same bits every time', async () => {
  const [a, b] = [normal([6, 3001]), normal([3001, 10])];
  const first = await onGpu(a, b, dense(6, 10));
  const again = await onGpu(a, b, dense(6, 10));
  expect(again.data).toEqual(first.data);
});

test('integers are unsupported in every product and in the result', async () => {
  const { checkSupport } = webgpuEngine(await sharedContext()).primitives;
  const two: Primitive = { kind: 'matmul', terms: 2 };
  const descs = (n: number): Tensor[] =>
    Array.from({ length: 5 }, (_, d) => Tensor.zeros([2, 2], { dtype: d === n ? 'i32' : 'f32' }));
  for (const n of [0, 1, 2, 3, 4]) {
    const all = descs(n);
    expect(checkSupport(two, all.slice(0, 4), all.slice(4)).reasons).toEqual([
      'matmul is supported for floats only, got a tensor of i32',
    ]);
  }
});

describe('the text', () => {
  const kernels = (...[M, N, K]: number[]) =>
    matmulKernels(
      { kind: 'matmul' },
      {
        ...{ inputs: [dense(M, K), dense(K, N)], outputs: [dense(M, N)] },
        ...{ unaligned: new Set<string>(), capabilities: guaranteedCapabilities },
      },
    ).kernels;

  test('contains no size: problems with equal layouts share kernels', () => {
    const [[one], [other]] = [kernels(1024, 2048, 512), kernels(2048, 1024, 768)];
    expect(one.wgsl).toBe(other.wgsl);
  });

  test('fits the limits that WebGPU guarantees', () => {
    for (const [M, N, K] of [
      [1, 999, 64],
      [999, 1, 64],
      [16, 999, 64],
      [999, 16, 64],
      [64, 64, 64],
      [2048, 2048, 64],
    ]) {
      for (const { wgsl, bindings } of kernels(M, N, K)) {
        const vectors = [...wgsl.matchAll(/var<workgroup> \w+: array<vec4f, (\d+)>/g)];
        const bytes = vectors.reduce((sum, [, n]) => sum + 16 * Number(n), 0);
        expect(bytes).toBeLessThanOrEqual(guaranteedCapabilities.maxComputeWorkgroupStorageSize);
        expect(bindings.length).toBeLessThanOrEqual(8);
        expect(wgsl).not.toMatch(/\bvar \w+(: \w+)?;/);
      }
    }
  });
});
