import { type DType, dtypeInfo, Tensor } from '@tilewise/core';
import { fillNormal } from '@tilewise/philox';
import type { GpuContext } from '../device/context.ts';
import type { GpuTensor } from '../device/gpu-tensor.ts';
import type { PlanTensor } from '../kernel/plan-tensors.ts';

/** Numbers after which stand-ins repeat themselves: a prime, so that no two rows of a head are the same. */
const period = 65521;

/** Tensors that stand for those of a problem, by name. Made once: what one plan writes, such as lse, another reads. */
export class StandIns {
  readonly #ctx: GpuContext;
  readonly #normal: Readonly<Record<string, DType>>;
  readonly #made = new Map<string, GpuTensor>();

  /** `normal` says which tensors hold normal numbers, and of which dtype. */
  constructor(ctx: GpuContext, normal: Readonly<Record<string, DType>>) {
    this.#ctx = ctx;
    this.#normal = normal;
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

  #make(name: string, bytes: number): GpuTensor {
    const dtype = this.#normal[name];
    if (dtype) return this.#ctx.upload(normalNumbers(dtype, bytes / dtypeInfo[dtype].bytes));
    // Bytes of 1 are masks that show everything, and floats so small that they change no score.
    return this.#ctx.upload(Tensor.from(new Uint8Array(bytes).fill(1), [bytes], { dtype: 'u8' }));
  }
}

function normalNumbers(dtype: DType, count: number): Tensor {
  const values = fillNormal(new Float32Array(Math.min(period, count)), { seed: 1 });
  const { data } = Tensor.from(values, [values.length], { dtype });
  const all = dtypeInfo[dtype].allocate(count);
  for (let n = 0; n < count; n += data.length) all.set(data.subarray(0, count - n), n);
  return Tensor.wrap(all, { dtype, shape: [count] });
}
