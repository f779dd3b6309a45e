import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { storageDesc } from '../../ir/tensor/storage.ts';
import { Uploads } from './uploads.ts';

/**
 * Allocates outputs that are not bound, and runs the work that computes them; if it fails, the outputs are
 * freed. Uploads of the run are freed in any case.
 * @returns the outputs by id.
 */
export async function withAllocatedOutputs<T extends TensorDesc>(
  engine: TensorEngine<T>,
  unbound: readonly LogicalTensor[],
  work: (outputs: Readonly<Record<number, T>>, uploads: Uploads<T>) => Promise<void> | void,
): Promise<Readonly<Record<number, T>>> {
  const uploads = new Uploads(engine);
  const outputs: Record<number, T> = {};
  try {
    for (const t of unbound) outputs[t.id] = engine.primitives.allocate(storageDesc(t));
    await work(outputs, uploads);
  } catch (error) {
    for (const tensor of Object.values(outputs)) engine.release(tensor);
    throw error;
  } finally {
    uploads.release();
  }
  return outputs;
}
