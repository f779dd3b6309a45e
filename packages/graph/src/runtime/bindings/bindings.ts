import { elementCount, InvalidArgumentError, Tensor, type TensorDesc } from '@tilewise/core';
import { hostPrimitives, type Primitives } from '@tilewise/core/primitive';
import type { InPlace } from '../../ir/in-place.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { isScalarValue } from '../../ir/tensor/scalar.ts';
import { scalarTensor, storageDesc } from '../../ir/tensor/storage.ts';
import { type Bindable, checkBound } from './bindable.ts';
import { isSamePlace, overlap, type Placed } from './overlap.ts';

/** Tensors or numbers by the ids of logical tensors. */
export type Bindings<V> = Readonly<Record<number, V>>;

/** The inputs and outputs of a partition or graph, with known shapes. */
export interface Ends {
  readonly inputs: readonly LogicalTensor[];
  readonly outputs: readonly LogicalTensor[];
  /** Inputs that outputs may overwrite. */
  readonly inPlace: InPlace;
}

/** Bindings that have been checked. */
export interface Checked<T> {
  /** Inputs that are on the host. */
  readonly onHost: ReadonlyMap<number, Tensor>;
  /** The other inputs, and the outputs. */
  readonly onEngine: ReadonlyMap<number, T>;
  /** Outputs that are not bound. */
  readonly unbound: readonly LogicalTensor[];
}

/**
 * Checks what is bound to inputs and outputs; other bindings are passed over here (`checkIds` refuses those
 * of no tensor).
 * @throws InvalidArgumentError, InvalidDTypeError or InvalidShapeError naming the tensor.
 */
export function checkBindings<T extends TensorDesc>(
  primitives: Primitives<T>,
  { inputs, outputs, inPlace }: Ends,
  bindings: Bindings<Bindable<T>>,
): Checked<T> {
  const onHost = new Map<number, Tensor>();
  const onEngine = new Map<number, T>();
  for (const t of inputs) {
    const given = bindings[t.id];
    const tensor = isScalarValue(given) ? scalarTensor(t, given) : given;
    checkBound(t, tensor, storageDesc(t));
    if (tensor instanceof Tensor) onHost.set(t.id, tensor);
    else onEngine.set(t.id, tensor);
  }
  const unbound: LogicalTensor[] = [];
  for (const t of outputs) {
    const given = bindings[t.id];
    if (isScalarValue(given)) {
      throw new InvalidArgumentError(`tensor ${t.id}`, `is an output and cannot be the number ${given}`);
    }
    if (given === undefined) {
      unbound.push(t);
      continue;
    }
    checkBound(t, given, storageDesc(t));
    onEngine.set(t.id, given as T);
  }
  checkApart(primitives, outputs, inPlace, onHost, onEngine);
  return { onHost, onEngine, unbound };
}

/**
 * An output may be written while inputs and other outputs are still read, so it must not share memory with
 * them, but for an input that its operation overwrites.
 */
function checkApart<T extends TensorDesc>(
  primitives: Primitives<T>,
  outputs: readonly LogicalTensor[],
  inPlace: InPlace,
  onHost: ReadonlyMap<number, Tensor>,
  onEngine: ReadonlyMap<number, T>,
): void {
  const byMemory = new Map<object, Map<number, Placed>>();
  const add = (id: number, placed: Placed): void => {
    const others = byMemory.get(placed.memory) ?? new Map<number, Placed>();
    byMemory.set(placed.memory, others.set(id, placed));
  };
  for (const [id, desc] of onEngine) add(id, { ...primitives.placeOf(desc, `tensor ${id}`), desc });
  for (const [id, desc] of onHost) add(id, { ...hostPrimitives.placeOf(desc), desc });
  for (const together of byMemory.values()) {
    if (together.size === 1) continue;
    for (const { id } of outputs) {
      const output = together.get(id);
      if (!output) continue;
      for (const [other, placed] of together) {
        if (other === id || !overlap(output, placed)) continue;
        if (inPlace.get(id) === other && isSamePlace(output, placed)) continue;
        throw new InvalidArgumentError(
          `tensor ${id}`,
          `is an output and must not overlap tensor ${other} in memory`,
        );
      }
    }
  }
}

/**
 * The additional rules of recording, which allocates nothing and uploads scalars alone.
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
