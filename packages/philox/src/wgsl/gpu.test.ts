import { loadPhilox } from '@tilewise/test-data';
import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { philox2x32 } from '../block/block2x32.ts';
import { philox4x32 } from '../block/block4x32.ts';
import { createDropout, dropoutMask } from '../dropout/dropout.ts';
import type { DropoutSchemeName } from '../dropout/scheme.ts';
import { fillBernoulli, fillNormal, fillU32, fillUniform } from '../stream/fill.ts';
import { uniformFromWord } from '../stream/uniform.ts';
import { joinU64, splitU64 } from '../u64.ts';
import { philox2x32Wgsl, philox4x32Wgsl } from '../wgsl-pieces/block.ts';
import { composeWgsl, type WgslPiece } from '../wgsl-pieces/piece.ts';
import { u64Wgsl } from '../wgsl-pieces/u64.ts';
import { uniformWgsl } from './distribution.ts';
import { dropoutUniforms, dropoutUniformWords, dropoutWgsl } from './dropout.ts';
import { dropoutMaskKernel, dropoutMaskUniformWords } from './dropout-mask-kernel.ts';
import { fillKernel, fillUniformWords } from './fill-kernel.ts';

/** WebGPU's buffer usage flags. */
const usage = { MAP_READ: 0x1, COPY_SRC: 0x4, COPY_DST: 0x8, UNIFORM: 0x40, STORAGE: 0x80 } as const;

let device: GPUDevice;
beforeAll(async () => {
  const { adapter } = await openGpu();
  device = await adapter.requestDevice();
}, 60_000);
afterAll(() => device.destroy());

/** Runs `main` with the output as binding 0 and the input as binding 1, and returns the output's words. */
async function run(
  code: string,
  input: Uint32Array<ArrayBuffer>,
  inputUsage: number,
  outputWords: number,
  groups: readonly [number, number],
): Promise<Uint32Array> {
  device.pushErrorScope('validation');
  const pipeline = device.createComputePipeline({
    layout: 'auto',
    compute: { module: device.createShaderModule({ code }), entryPoint: 'main' },
  });
  const size = Math.max(4, 4 * outputWords);
  const source = device.createBuffer({ size: input.byteLength, usage: inputUsage | usage.COPY_DST });
  const result = device.createBuffer({ size, usage: usage.STORAGE | usage.COPY_SRC });
  const readback = device.createBuffer({ size, usage: usage.MAP_READ | usage.COPY_DST });
  device.queue.writeBuffer(source, 0, input);
  const entries = [result, source].map((buffer, binding) => ({ binding, resource: { buffer } }));
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
  pass.dispatchWorkgroups(...groups);
  pass.end();
  encoder.copyBufferToBuffer(result, 0, readback, 0, size);
  device.queue.submit([encoder.finish()]);
  expect((await device.popErrorScope())?.message).toBeUndefined();
  await readback.mapAsync(usage.MAP_READ);
  const words = new Uint32Array(readback.getMappedRange()).slice(0, outputWords);
  for (const buffer of [source, result, readback]) buffer.destroy();
  return words;
}

/**
 * Applies a WGSL expression of `x`, a slice of the input per invocation, and returns its words one after the
 * other.
 */
async function map(
  pieces: readonly WgslPiece[],
  expression: string,
  types: readonly [input: string, words: number, output: string, outputWords: number],
  inputs: readonly (readonly number[])[],
): Promise<number[][]> {
  const [inType, inWords, outType, outWords] = types;
  const code = `${composeWgsl(...pieces)}
@group(0) @binding(0) var<storage, read_write> results: array<${outType}>;
@group(0) @binding(1) var<storage, read> inputs: array<${inType}>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= ${inputs.length}u) { return; }
  let x = inputs[id.x];
  results[id.x] = ${expression};
}`;
  const padded = inputs.flatMap(words => [...words, ...new Array<number>(inWords - words.length).fill(0)]);
  const groups = [Math.ceil(inputs.length / 64), 1] as const;
  const output = await run(code, new Uint32Array(padded), usage.STORAGE, inputs.length * outWords, groups);
  return inputs.map((_, n) => [...output.subarray(n * outWords, (n + 1) * outWords)]);
}

interface KnownAnswer {
  readonly alg: string;
  readonly rounds: number;
  readonly key: string[];
  readonly counter: string[];
  readonly out: string[];
}
const { vectors } = loadPhilox<{ vectors: KnownAnswer[] }>('philox_kat');
const answers = (alg: string, rounds: number) => vectors.filter(v => v.alg === alg && v.rounds === rounds);
const words = (hex: readonly string[]) => hex.map(word => Number.parseInt(word, 16));

describe('the block functions in WGSL', () => {
  it.each([1, 2, 3, 7, 10])('answer the vectors of philox4x32-%i', async rounds => {
    const cases = answers('philox4x32', rounds);
    const types = ['array<vec4u, 2>', 8, 'vec4u', 4] as const;
    const inputs = cases.map(({ counter, key }) => [...words(counter), ...words(key)]);
    const results = await map([philox4x32Wgsl(rounds)], `philox4x32_${rounds}(x[0], x[1].xy)`, types, inputs);
    expect(cases.length).toBeGreaterThan(0);
    expect(results).toEqual(cases.map(({ out }) => words(out)));
  });

  it.each([7, 10])('answer the vectors of philox2x32-%i', async rounds => {
    const cases = answers('philox2x32', rounds);
    const inputs = cases.map(({ counter, key }) => [...words(counter), ...words(key)]);
    const types = ['vec4u', 4, 'vec2u', 2] as const;
    const results = await map([philox2x32Wgsl(rounds)], `philox2x32_${rounds}(x.xy, x.z)`, types, inputs);
    expect(cases.length).toBeGreaterThan(0);
    expect(results).toEqual(cases.map(({ out }) => words(out)));
  });

  it('equal the TypeScript ones on random blocks', async () => {
    const random = fillU32(new Uint32Array(6 * 256), { seed: 5 });
    const inputs = Array.from({ length: 256 }, (_, n) => [...random.subarray(6 * n, 6 * n + 6)]);
    const four = await map(
      [philox4x32Wgsl()],
      'philox4x32_10(x[0], x[1].xy)',
      ['array<vec4u, 2>', 8, 'vec4u', 4],
      inputs,
    );
    const two = await map(
      [philox2x32Wgsl()],
      'philox2x32_10(x[0].xy, x[1].x)',
      ['array<vec4u, 2>', 8, 'vec2u', 2],
      inputs,
    );
    inputs.forEach(([c0 = 0, c1 = 0, c2 = 0, c3 = 0, k0 = 0, k1 = 0], n) => {
      expect(four[n]).toEqual(philox4x32([c0, c1, c2, c3], [k0, k1]));
      expect(two[n]).toEqual(philox2x32([c0, c1], k0));
    });
  });
});

describe('64-bit arithmetic in WGSL', () => {
  const corners = [0n, 1n, 3n, 0xffffn, 0x10000n, 0xffffffffn, 2n ** 32n, 2n ** 63n + 5n, 2n ** 64n - 1n];
  const pairs = corners.flatMap(a => corners.map(b => [a, b] as const));
  const inputs = pairs.map(([a, b]) => [...splitU64(a), ...splitU64(b)]);
  const low = (b: bigint) => BigInt.asUintN(32, b);

  it.each<[string, (a: bigint, b: bigint) => bigint]>([
    ['u64_add(x.xy, x.zw)', (a, b) => a + b],
    ['u64_add_u32(x.xy, x.z)', (a, b) => a + low(b)],
    ['u32_mul_wide(x.x, x.z)', (a, b) => low(a) * low(b)],
    ['u64_mul_u32(x.xy, x.z)', (a, b) => a * low(b)],
    ['u64_quarter(x.xy)', a => a / 4n],
  ])('%s carries between the words and wraps at 2^64', async (expression, expected) => {
    const results = await map([u64Wgsl], expression, ['vec4u', 4, 'vec2u', 2], inputs);
    expect(results.map(([lo = 0, hi = 0]) => joinU64([lo, hi]))).toEqual(
      pairs.map(([a, b]) => BigInt.asUintN(64, expected(a, b))),
    );
  });
});

describe('the distributions in WGSL', () => {
  it('map every kind of word to the same uniform, ties between floats included', async () => {
    const edges = Array.from({ length: 33 }, (_, e) => 2 ** e).flatMap(x =>
      [-3, -2, -1, 0, 1, 2, 3, x / 2 ** 24, x / 2 ** 25, -x / 2 ** 25, 3 * (x / 2 ** 25)].map(d =>
        Math.floor(x + d),
      ),
    );
    const random = fillU32(new Uint32Array(4000), { seed: 1 });
    const inputs = [...edges, ...random].filter(x => x >= 0 && x < 2 ** 32);
    const types = ['u32', 1, 'u32', 1] as const;
    const results = await map(
      [uniformWgsl],
      'bitcast<u32>(philox_uniform(x))',
      types,
      inputs.map(x => [x]),
    );
    const expected = new Uint32Array(new Float32Array(inputs.map(uniformFromWord)).buffer);
    expect(results.map(([bits]) => bits)).toEqual([...expected]);
  });

  const places = [
    { seed: 42n, offset: 0 },
    { seed: 42n, offset: 3, subsequence: 9n },
    { seed: 2n ** 64n - 1n, offset: 2n ** 34n - 2n },
    { seed: 7n, offset: 2n ** 64n - 3n, subsequence: 2n ** 64n - 1n },
  ];
  const fill = async (
    distribution: 'u32' | 'uniform' | 'normal' | 'bernoulli',
    count: number,
    place: object,
  ) => {
    const { code, elementsPerWorkgroup } = fillKernel({ distribution, workgroupSize: 32 });
    const uniforms = fillUniformWords({ seed: 0, ...place, count });
    const outputWords = distribution === 'bernoulli' ? Math.ceil(count / 4) : count;
    const groups = [2, Math.ceil(count / elementsPerWorkgroup / 2)] as const;
    return run(code, new Uint32Array(uniforms), usage.UNIFORM, outputWords, groups);
  };

  it.each(places)('fill buffers as the CPU does from seed $seed, offset $offset', async place => {
    for (const count of [1, 254, 1021]) {
      expect(await fill('u32', count, place)).toEqual(fillU32(new Uint32Array(count), place));
      expect(new Float32Array((await fill('uniform', count, place)).buffer)).toEqual(
        fillUniform(new Float32Array(count), place),
      );
      const bytes = new Uint8Array((await fill('bernoulli', count, { ...place, p: 0.3 })).buffer);
      const expected = new Uint8Array(4 * Math.ceil(count / 4));
      fillBernoulli(expected.subarray(0, count), { ...place, p: 0.3 });
      expect(bytes).toEqual(expected);
    }
  });

  it('draw certain Bernoulli values at 0 and 1', async () => {
    expect((await fill('bernoulli', 64, { p: 0 })).every(word => word === 0)).toBe(true);
    expect((await fill('bernoulli', 64, { p: 1 })).every(word => word === 0x01010101)).toBe(true);
  });

  it.each(places)(
    'draw the normals of the CPU, except for the last bits, from offset $offset',
    async place => {
      const gpu = new Float32Array((await fill('normal', 1001, place)).buffer);
      const cpu = fillNormal(new Float32Array(1001), place);
      // WGSL allows sine and cosine an error of 2^-11; the radius is at most sqrt(66 ln 2) < 6.8.
      gpu.forEach((value, n) => {
        expect(Math.abs(value - (cpu[n] ?? 0))).toBeLessThan(6.8 * 2 ** -11);
      });
    },
  );
});

interface MaskVector {
  readonly B: number;
  readonly H: number;
  readonly M: number;
  readonly N: number;
  readonly p: number;
  readonly seed: string;
  readonly offset: string;
  readonly mask_hex: string;
}
const maskVectors: Record<DropoutSchemeName, MaskVector[]> = {
  'torch-efficient': loadPhilox<{ cases: MaskVector[] }>('mem_eff_dropout_vectors').cases,
  'flash-attention-2': loadPhilox<{ cases: MaskVector[] }>('fa2_dropout_vectors').cases,
  onednn: loadPhilox<{ masks: MaskVector[] }>('onednn_philox_vectors').masks,
};
const schemes = Object.keys(maskVectors) as DropoutSchemeName[];

describe.each(schemes)('dropout in WGSL, %s', scheme => {
  const mask = async (
    shape: readonly [number, number, number, number],
    p: number,
    seed: bigint,
    offset: bigint,
  ) => {
    const [B, H, Sq, Skv] = shape;
    const { code, elementsPerWorkgroup } = dropoutMaskKernel({ scheme });
    const input = dropoutMaskUniformWords({ scheme, p, seed, offset, shape: { B, H, Sq, Skv } });
    const count = B * H * Sq * Skv;
    const groups = [Math.ceil(count / elementsPerWorkgroup), 1] as const;
    const packed = await run(code, new Uint32Array(input), usage.UNIFORM, Math.ceil(count / 4), groups);
    return new Uint8Array(packed.buffer).subarray(0, count);
  };

  it('makes every mask of the vectors', async () => {
    for (const { B, H, M, N, p, seed, offset, mask_hex } of maskVectors[scheme]) {
      const keep = await mask([B, H, M, N], p, BigInt(`0x${seed}`), BigInt(`0x${offset}`));
      const bytes = Buffer.from(mask_hex, 'hex');
      expect(keep).toEqual(Uint8Array.from(keep, (_, n) => ((bytes[n >> 3] ?? 0) >> (n & 7)) & 1));
    }
  });

  it('makes the masks of the CPU at the ends of p and of the offsets', async () => {
    const shape = [2, 1, 19, 37] as const;
    for (const p of scheme === 'flash-attention-2' ? [0, 0.7] : [0, 0.7, 1]) {
      for (const offset of [2n ** 64n - 101n, 2n ** 32n - 50n, 2n ** 34n - 7n]) {
        const seed = 2n ** 63n + 1n;
        expect(await mask(shape, p, seed, offset)).toEqual(dropoutMask({ shape, p, seed, offset, scheme }));
      }
    }
  });

  it('decides single elements far beyond 2^32 as the CPU does', async () => {
    const extents = { B: 1, H: 40, Sq: 70_000, Skv: 66_001 };
    const places = Array.from(
      { length: 200 },
      (_, n) => [n % 40, (n * 7919) % 70_000, (n * 104_729) % 66_001] as const,
    );
    const options = { scheme, p: 0.5, seed: 77n, offset: 2n ** 32n - 5n, shape: extents };
    const literal = [...dropoutUniformWords(dropoutUniforms(options))].map(word => `${word}u`);
    const [s0, s1, o0, o1, h0, h1, stride, threshold, none] = literal;
    const params = `DropoutParams(vec2u(${s0}, ${s1}), vec2u(${o0}, ${o1}), vec2u(${h0}, ${h1}), ${stride}, ${threshold}, ${none}, 1.0)`;
    const expression = `select(0u, 1u, dropout_keep(${params}, x.x, x.y, x.z))`;
    const results = await map([{ code: dropoutWgsl(scheme) }], expression, ['vec4u', 4, 'u32', 1], places);
    const { keep } = createDropout(options);
    expect(results.map(([flag]) => flag === 1)).toEqual(places.map(([h, i, j]) => keep(0, h, i, j)));
  });
});
