import { elementCount, InvalidArgumentError, Tensor, type TensorDesc } from '@tilewise/core';
import type { LogicalTensor } from '../tensor/logical-tensor.ts';
import { type Bindable, checkBound, scalarTensor, storageDesc } from './storage.ts';

/** What is bound, by the id of the logical tensor. */
export type Bindings<V> = Readonly<Record<number, V>>;

/** What enters and leaves, with known shapes. */
export interface Ends {
  readonly inputs: readonly LogicalTensor[];
  readonly outputs: readonly LogicalTensor[];
}

/** Bindings that have been checked. */
export interface Checked<T> {
  /** Inputs whose numbers the host has. */
  readonly onHost: ReadonlyMap<number, Tensor>;
  /** The other inputs, and the outputs. */
  readonly onEngine: ReadonlyMap<number, T>;
  /** Outputs that are not bound. */
  readonly unbound: readonly LogicalTensor[];
}

/**
 * Checks what is bound to inputs and outputs; other bindings are passed over.
 * @throws InvalidArgumentError, InvalidDTypeError or InvalidShapeError naming the tensor.
 */
export function checkBindings<T extends TensorDesc>(
  { inputs, outputs }: Ends,
  bindings: Bindings<Bindable<T>>,
): Checked<T> {
  const onHost = new Map<number, Tensor>();
  const onEngine = new Map<number, T>();
  for (const t of inputs) {
    const given = bindings[t.id];
    const tensor = typeof given === 'number' || typeof given === 'bigint' ? scalarTensor(t, given) : given;
    checkBound(t, tensor, storageDesc(t));
    if (tensor instanceof Tensor) onHost.set(t.id, tensor);
    else onEngine.set(t.id, tensor);
  }
  const unbound: LogicalTensor[] = [];
  for (const t of outputs) {
    const given = bindings[t.id];
    if (typeof given === 'number' || typeof given === 'bigint') {
      throw new InvalidArgumentError(`tensor ${t.id}`, `is an output and cannot be the number ${given}`);
    }
    if (given === undefined) {
      unbound.push(t);
      continue;
    }
    checkBound(t, given, storageDesc(t));
    onEngine.set(t.id, given as T);
  }
  return { onHost, onEngine, unbound };
}

/**
 * Checks what recording asks beside: it allocates nothing, and uploads scalars alone.
 * @throws InvalidArgumentError naming the tensor.
 */
export function checkEncodable<T>({ onHost, unbound }: Checked<T>): void {
  for (const { id } of unbound) {
    throw new InvalidArgumentError(`tensor ${id}`, 'is an output and must be bound to be encoded');
  }
  for (const [id, { shape }] of onHost) {
    if (elementCount(shape) <= 2) continue;
    throw new InvalidArgumentError(
      `tensor ${id}`,
      'must be a tensor of the engine to be encoded, got one of the host',
    );
  }
}
