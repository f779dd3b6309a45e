import { type DType, dtypeInfo, Tensor } from '@tilewise/core';
import { fillNormal } from '@tilewise/philox';
import type { GpuContext } from '../runtime/context.ts';
import type { GpuTensor } from '../runtime/memory/gpu-tensor.ts';
import type { PlanTensor } from '../runtime/plan/plan-tensors.ts';

/**
 * Numbers after which synthetic tensors repeat, and that are read of a result: a prime, so that no two rows
 * of a head are the same.
 */
const period = 65521;

const inputs: readonly string[] = ['q', 'k', 'v', 'dO'];

/**
 * Synthetic tensors in place of those of a problem, by name. Made once: what one plan writes, such as lse,
 * another plan reads.
 */
export class SyntheticTensors {
  readonly #ctx: GpuContext;
  readonly #dtypes: Readonly<Record<string, DType>>;
  readonly #made = new Map<string, GpuTensor>();

  /** With the dtypes of inputs, which hold normal numbers, and of the results that are read. */
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

  /** Rejects with what went wrong while they were made: there may be no memory for them. */
  async settle(): Promise<void> {
    const faults = await Promise.all([...this.#made.values()].map(({ fault }) => fault));
    const wrong = faults.find(fault => fault !== undefined);
    if (wrong) throw wrong;
  }

  /** Sets all of a result to 0, so that nothing is left of what wrote it last. */
  clear(name: string): void {
    const { device } = this.#ctx;
    const encoder = device.createCommandEncoder({ label: 'tilewise tune' });
    encoder.clearBuffer(this.#of(name).buffer);
    device.queue.submit([encoder.finish()]);
  }

  /** Some elements of a result, from everywhere in it. */
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
    // Bytes of 1 are masks that show everything, and floats so small that they change no score.
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
