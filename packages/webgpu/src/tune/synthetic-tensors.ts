import { type DType, dtypeInfo, Tensor } from '@tilewise/core';
import { fillNormal } from '@tilewise/philox';
import type { GpuContext } from '../runtime/context.ts';
import type { GpuTensor } from '../runtime/memory/gpu-tensor.ts';
import type { PlanTensor } from '../runtime/plan/plan-tensors.ts';

/**
 * The number of elements after which the values of a synthetic tensor repeat, and the largest number of
 * elements that is read from a result. A prime, so that no two rows of a head are equal.
 */
const period = 65521;

const inputs: readonly string[] = ['q', 'k', 'v', 'dO'];

/**
 * Synthetic tensors that stand in for the tensors of a problem, by name. Each is made once, so that a tensor
 * that one plan writes, such as lse, is read by another.
 */
export class SyntheticTensors {
  readonly #ctx: GpuContext;
  readonly #dtypes: Readonly<Record<string, DType>>;
  readonly #made = new Map<string, GpuTensor>();

  /**
   * @param dtypes the dtypes of the inputs, which get normally distributed numbers, and of the results to
   * read.
   */
  constructor(ctx: GpuContext, dtypes: Readonly<Record<string, DType>>) {
    this.#ctx = ctx;
    this.#dtypes = dtypes;
  }

  /** A buffer for each of these tensors. */
  of(tensors: readonly PlanTensor[]): Record<string, GPUBuffer> {
    return Object.fromEntries(
      tensors.map(({ name, bytes }) => {
        const tensor = this.#made.get(name) ?? this.#make(name, bytes);
        this.#made.set(name, tensor);
        return [name, tensor.buffer];
      }),
    );
  }

  /** Rejects with the first error in making the tensors; there may be too little memory for them. */
  async settle(): Promise<void> {
    const faults = await Promise.all([...this.#made.values()].map(({ fault }) => fault));
    const wrong = faults.find(fault => fault !== undefined);
    if (wrong) throw wrong;
  }

  /** Sets a result to 0, so that no values of an earlier run remain. */
  clear(name: string): void {
    const { device } = this.#ctx;
    const encoder = device.createCommandEncoder({ label: 'tilewise tune' });
    encoder.clearBuffer(this.#of(name).buffer);
    device.queue.submit([encoder.finish()]);
  }

  /** A sample of a result's elements, spread over all of it. */
  async read(name: string): Promise<Float32Array> {
    const { data, dtype } = await this.#ctx.download(this.#of(name));
    const step = Math.ceil(data.length / period);
    const some = dtypeInfo[dtype].allocate(Math.ceil(data.length / step));
    for (let n = 0; n < some.length; n++) some[n] = data[n * step];
    return Tensor.wrap(some, { dtype, shape: [some.length] }).toFloat32();
  }

  #of(name: string): GpuTensor {
    const tensor = this.#made.get(name);
    if (!tensor) throw new TypeError(`no synthetic tensor for ${name}`);
    return tensor;
  }

  #make(name: string, bytes: number): GpuTensor {
    const dtype = this.#dtypes[name];
    // Bytes of 1 serve as masks that let every query see every key, and as floats too small to change any
    // score.
    if (!dtype) return this.#ctx.upload(Tensor.from(new Uint8Array(bytes).fill(1), [bytes], { dtype: 'u8' }));
    const count = bytes / dtypeInfo[dtype].bytes;
    return inputs.includes(name)
      ? this.#ctx.upload(normalNumbers(dtype, count))
      : this.#ctx.allocate([count], dtype);
  }
}

function normalNumbers(dtype: DType, count: number): Tensor {
  const values = fillNormal(new Float32Array(Math.min(period, count)), { seed: 1 });
  const { data } = Tensor.from(values, [values.length], { dtype });
  const all = dtypeInfo[dtype].allocate(count);
  for (let n = 0; n < count; n += data.length) all.set(data.subarray(0, count - n), n);
  return Tensor.wrap(all, { dtype, shape: [count] });
}
