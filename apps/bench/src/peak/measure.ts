import type { Tensor } from '@tilewise/core';
import { type Encode, type GpuClock, gpuClock } from '@tilewise/webgpu/tune';
import { normalInputs } from '../attention/normal-inputs.ts';
import { bufferOf, emptyBuffer, readBuffer } from '../gpu/buffers.ts';
import { timePasses } from '../gpu/clock.ts';
import type { BenchGpu } from '../gpu/open-webgpu.ts';
import { WrongResult } from '../suites/suite.ts';
import type { MatmulCandidate, PeakPrecision } from './candidate.ts';
import { subgroupMatmul } from './subgroup-matmul.ts';
import { type MatrixTile, type SubgroupMatrix, subgroupMatrixMatmul } from './subgroup-matrix-matmul.ts';
import { type FixedTile, tiledMatmul } from './tiled-matmul.ts';

/** The fastest product found for a precision. */
export interface PeakMatmul {
  readonly precision: PeakPrecision;
  readonly kernel: string;
  readonly ms: number;
  readonly tflops: number;
  /** Records it once more, to be timed beside other work; until the peak is destroyed. */
  readonly encode: Encode;
}

/** The peak of an adapter, as measured: other numbers are fractions of the peak. */
export interface Peak {
  readonly size: number;
  readonly matmuls: readonly PeakMatmul[];
  /** The bandwidth of a copy, counting the bytes read and the bytes written. */
  readonly gigabytesPerSecond: number;
  readonly clock: GpuClock['kind'];
  /** Floating-point operations of one product. */
  readonly flops: number;
  destroy(): void;
}

/** Large enough to fill the adapter, small enough to be done in a moment. */
export const peakSize = ({ kind }: BenchGpu): number => (kind === 'hardware' ? 4096 : 512);

const stagedTiles: readonly FixedTile[] = [
  { tx: 8, ty: 8, rows: 2, columns: 2, depth: 16 },
  { tx: 16, ty: 16, rows: 2, columns: 1, depth: 16 },
  { tx: 16, ty: 16, rows: 2, columns: 2, depth: 8 },
];
const directTile: FixedTile = { tx: 8, ty: 8, rows: 1, columns: 1, depth: 16 };

const matrixTiles: readonly MatrixTile[] = [
  { across: 2, depth: 16, staged: true },
  { across: 2, depth: 32, staged: true },
  { across: 4, depth: 32, staged: true },
  { across: 2, depth: 32, staged: false },
];

/** Ways to compute a product that are worth a try on an adapter. */
export function candidatesFor(
  { device, matrices, maxSubgroupSize }: Pick<BenchGpu, 'device' | 'matrices' | 'maxSubgroupSize'>,
  size: number,
): MatmulCandidate[] {
  const precisions = device.features.has('shader-f16') ? (['f32', 'f16'] as const) : (['f32'] as const);
  const matrix = matrices.find(({ M, N, K }) => 64 % M === 0 && 64 % N === 0 && 16 % K === 0);
  const withMatrices = (one: SubgroupMatrix): MatmulCandidate[] =>
    matrixTiles.map(tile => subgroupMatrixMatmul(size, one, maxSubgroupSize, tile));
  return [
    ...precisions.flatMap(precision => stagedTiles.map(tile => tiledMatmul(size, precision, tile, true))),
    tiledMatmul(size, 'f32', directTile, false),
    ...(device.features.has('subgroups') ? [subgroupMatmul(size)] : []),
    ...(matrix ? withMatrices(matrix) : []),
  ];
}

/** Operands of square products, and room for the result. */
interface Operands {
  readonly A: GPUBuffer;
  readonly B: GPUBuffer;
  readonly C: GPUBuffer;
}

/** A candidate, ready to be recorded. */
export interface ReadyMatmul {
  readonly candidate: MatmulCandidate;
  encode(pass: GPUComputePassEncoder): void;
  /** Runs it once, from a C of zeros: whether that is then what the definition says, in some places. */
  isRight(): Promise<boolean>;
}

/** Operands of both storage dtypes, made once for all candidates of a size. */
export class MatmulBench {
  readonly #device: GPUDevice;
  readonly #size: number;
  readonly #host: { readonly a: Tensor; readonly b: Tensor };
  readonly #operands = new Map<string, Operands>();
  /** A and B as they are stored: casting them takes as long as all else that a check does. */
  readonly #values = new Map<string, readonly [a: Float32Array, b: Float32Array]>();

  constructor(device: GPUDevice, size: number) {
    this.#device = device;
    this.#size = size;
    this.#host = normalInputs(['a', 'b'], [size, size]);
  }

  get flops(): number {
    return 2 * this.#size ** 3;
  }

  operands(dtype: 'f32' | 'f16'): Operands {
    const known = this.#operands.get(dtype);
    if (known) return known;
    const made = {
      A: bufferOf(this.#device, this.#host.a.cast(dtype)),
      B: bufferOf(this.#device, this.#host.b.cast(dtype)),
      C: emptyBuffer(this.#device, 4 * this.#size ** 2),
    };
    this.#operands.set(dtype, made);
    return made;
  }

  /** Compiles a candidate; null where the device does not. */
  async ready(candidate: MatmulCandidate): Promise<ReadyMatmul | null> {
    const device = this.#device;
    device.pushErrorScope('validation');
    const module = device.createShaderModule({ code: candidate.wgsl });
    const pipeline = await device
      .createComputePipelineAsync({ layout: 'auto', compute: { module } })
      .catch(() => null);
    const error = await device.popErrorScope();
    if (error || !pipeline) return null;
    const { A, B, C } = this.operands(candidate.storage);
    const bindGroup = device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [A, B, C].map((buffer, binding) => ({ binding, resource: { buffer } })),
    });
    const encode = (pass: GPUComputePassEncoder): void => {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindGroup);
      pass.dispatchWorkgroups(...candidate.groups);
    };
    return {
      candidate,
      encode,
      isRight: () => {
        const encoder = device.createCommandEncoder();
        // What another candidate left there would be taken for the product of one that writes nothing.
        encoder.clearBuffer(C);
        const pass = encoder.beginComputePass();
        encode(pass);
        pass.end();
        device.queue.submit([encoder.finish()]);
        return this.isRight(C, candidate.storage);
      },
    };
  }

  /**
   * Whether C is the product in elements all over it. A sum of f32 products strays by less than 2√K·2^-24 of
   * the sum of the magnitudes, about 0.64·K for normal operands; one of f16, summed in f16 over a step, by
   * 2^-11 of that.
   */
  async isRight(C: GPUBuffer, storage: 'f32' | 'f16'): Promise<boolean> {
    const n = this.#size;
    const c = new Float32Array(await readBuffer(this.#device, C, 4 * n * n));
    const [a, b] = this.#valuesOf(storage);
    const unit = storage === 'f32' ? 2 * Math.sqrt(n) * 2 ** -24 : 2 ** -10;
    for (let sample = 0; sample < 64; sample++) {
      const [i, j] = [(sample * 389) % n, (sample * 677 + 13) % n];
      let [sum, magnitude] = [0, 0];
      for (let k = 0; k < n; k++) {
        const product = a[i * n + k] * b[k * n + j];
        sum += product;
        magnitude += Math.abs(product);
      }
      if (!(Math.abs(c[i * n + j] - sum) <= unit * magnitude)) return false;
    }
    return true;
  }

  #valuesOf(storage: 'f32' | 'f16'): readonly [a: Float32Array, b: Float32Array] {
    const known = this.#values.get(storage);
    if (known) return known;
    const { a, b } = this.#host;
    const made = [a.cast(storage).toFloat32(), b.cast(storage).toFloat32()] as const;
    this.#values.set(storage, made);
    return made;
  }

  destroy(): void {
    for (const { A, B, C } of this.#operands.values()) for (const buffer of [A, B, C]) buffer.destroy();
    this.#operands.clear();
  }
}

/**
 * Measures the peak; a candidate that does not compile or gives something else than the product does not
 * count.
 * @throws WrongResult when none in f32 gives the product.
 */
export async function measurePeak(bench: BenchGpu, progress: (text: string) => void): Promise<Peak> {
  const { device } = bench;
  const size = peakSize(bench);
  const matmul = new MatmulBench(device, size);
  const clock = gpuClock(device);
  const right: ReadyMatmul[] = [];
  for (const candidate of candidatesFor(bench, size)) {
    progress(`peak: ${candidate.precision} ${candidate.name}`);
    const ready = await matmul.ready(candidate);
    if (ready && (await ready.isRight())) right.push(ready);
  }
  if (!right.some(({ candidate }) => candidate.precision === 'f32')) {
    throw new WrongResult('no matmul in f32 gives the product');
  }
  const times = await timePasses(
    clock,
    right.map(({ encode }) => encode),
  );
  const { flops } = matmul;
  const all = right.map(({ candidate: { precision, name }, encode }, n): PeakMatmul => {
    const ms = times[n].median;
    return { precision, kernel: name, ms, tflops: flops / ms / 1e9, encode };
  });
  const gigabytesPerSecond = await copyBandwidth(bench, clock);
  clock.destroy();
  return {
    ...{ size, matmuls: fastestOfEach(all), gigabytesPerSecond, clock: clock.kind, flops },
    destroy: () => matmul.destroy(),
  };
}

function fastestOfEach(all: readonly PeakMatmul[]): PeakMatmul[] {
  const best = new Map<PeakPrecision, PeakMatmul>();
  for (const one of all) {
    const known = best.get(one.precision);
    if (!known || one.tflops > known.tflops) best.set(one.precision, one);
  }
  return [...best.values()];
}

const copyWgsl = `@group(0) @binding(0) var<storage, read> source: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> destination: array<vec4f>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var n = id.x; n < arrayLength(&source); n += groups.x * 256u) {
    destination[n] = source[n];
  }
}
`;

/** Bytes that are copied at a time: more than caches hold, and on a GPU enough to fill it for a while. */
function copiedBytes({ kind, device: { limits } }: BenchGpu): number {
  const wanted = (kind === 'hardware' ? 512 : 96) * 2 ** 20;
  return Math.min(wanted, limits.maxStorageBufferBindingSize, limits.maxBufferSize);
}

/** GB/s of a copy, counting what is read and what is written. */
export async function copyBandwidth(bench: BenchGpu, clock: GpuClock): Promise<number> {
  const { device } = bench;
  const bytes = copiedBytes(bench);
  const [from, to] = [emptyBuffer(device, bytes), emptyBuffer(device, bytes)];
  const module = device.createShaderModule({ code: copyWgsl });
  const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module } });
  const bindGroup = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [from, to].map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  const encode = (pass: GPUComputePassEncoder): void => {
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindGroup);
    pass.dispatchWorkgroups(8192);
  };
  const [{ median }] = await timePasses(clock, [encode]);
  for (const buffer of [from, to]) buffer.destroy();
  return (2 * bytes) / median / 1e6;
}
