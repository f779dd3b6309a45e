import type { Tensor } from '@tilewise/core';
import type { GpuContext, GpuTensor } from '@tilewise/webgpu';
import { normalInputs } from '../timing/normal-inputs.ts';
import { bindingOf } from './binding.ts';
import type { MatmulCandidate } from './candidate.ts';

/** The operands of square products, and a buffer for the result. */
interface Operands {
  readonly A: GpuTensor;
  readonly B: GpuTensor;
  readonly C: GpuTensor;
}

/** A candidate, ready to be encoded. */
export interface ReadyMatmul {
  readonly candidate: MatmulCandidate;
  encode(pass: GPUComputePassEncoder): void;
  /** Runs the candidate once, starting from zeros in C; returns whether sampled elements are then right. */
  isRight(): Promise<boolean>;
}

/** Operands in both storage dtypes, created once for all candidates of a size. */
export class MatmulBench {
  readonly #ctx: GpuContext;
  readonly #size: number;
  readonly #host: { readonly a: Tensor; readonly b: Tensor };
  readonly #operands = new Map<string, Operands>();
  /** A and B as stored, cached because casting them takes as long as the rest of a check. */
  readonly #values = new Map<string, readonly [a: Float32Array, b: Float32Array]>();

  constructor(ctx: GpuContext, size: number) {
    this.#ctx = ctx;
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
      A: this.#ctx.upload(this.#host.a.cast(dtype)),
      B: this.#ctx.upload(this.#host.b.cast(dtype)),
      C: this.#ctx.allocate([this.#size, this.#size], 'f32'),
    };
    this.#operands.set(dtype, made);
    return made;
  }

  /** Compiles a candidate; null if the device cannot compile it. */
  async ready(candidate: MatmulCandidate): Promise<ReadyMatmul | null> {
    const { device } = this.#ctx;
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
      entries: [A, B, C].map((tensor, binding) => ({ binding, resource: bindingOf(tensor) })),
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
        // C is cleared, because another candidate's result would pass for the product of a candidate that
        // writes nothing.
        const { buffer, offset, size } = bindingOf(C);
        encoder.clearBuffer(buffer, offset, size);
        const pass = encoder.beginComputePass();
        encode(pass);
        pass.end();
        device.queue.submit([encoder.finish()]);
        return this.isRight(C, candidate.storage);
      },
    };
  }

  /**
   * Whether elements spread over C are right. A sum of f32 products is off by less than 2√K·2^-24 of the sum
   * of the magnitudes, about 0.64·K for normal operands; a sum of f16 products, summed in f16 over a step, by
   * 2^-11 of that.
   *
   * @param sums the precision of the sums.
   */
  async isRight(C: GpuTensor, storage: 'f32' | 'f16', sums: 'f32' | 'f16' = storage): Promise<boolean> {
    const n = this.#size;
    const c = (await this.#ctx.download(C)).toFloat32();
    const [a, b] = this.#valuesOf(storage);
    const unit = sums === 'f32' ? 2 * Math.sqrt(n) * 2 ** -24 : 2 ** -10;
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
    for (const { A, B, C } of this.#operands.values()) for (const tensor of [A, B, C]) tensor.destroy();
    this.#operands.clear();
  }
}
