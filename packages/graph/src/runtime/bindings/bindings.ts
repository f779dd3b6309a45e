import { elementCount, InvalidArgumentError, Tensor, type TensorDesc } from '@tilewise/core';
import { hostPrimitives, type Primitives } from '@tilewise/core/primitive';
import type { Overwrites } from '../../compile/overwrites.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { isScalarValue } from '../../ir/tensor/scalar.ts';
import { scalarTensor, storageDesc } from '../../ir/tensor/storage.ts';
import { type Bindable, checkBound } from './bindable.ts';
import { endOf, isSamePlace, overlap, type Placed } from './overlap.ts';

/** Tensors or numbers by the ids of logical tensors. */
export type Bindings<V> = Readonly<Record<number, V>>;

/** The inputs and outputs of a partition or graph, with known shapes. */
export interface Ends {
  readonly inputs: readonly LogicalTensor[];
  readonly outputs: readonly LogicalTensor[];
  readonly overwrites: Overwrites;
}

/** Bindings that have been checked. */
export interface Checked<T> {
  /** The inputs that are on the host. */
  readonly onHost: ReadonlyMap<number, Tensor>;
  /** The other inputs, and the outputs. */
  readonly onEngine: ReadonlyMap<number, T>;
  /** The outputs that are not bound. */
  readonly unbound: readonly LogicalTensor[];
}

/**
 * Checks the bindings of inputs and outputs, and ignores other bindings; `checkIds` refuses ids that no
 * tensor has.
 * @throws InvalidArgumentError, InvalidDTypeError or InvalidShapeError naming the tensor.
 */
export function checkBindings<T extends TensorDesc>(
  primitives: Primitives<T>,
  { inputs, outputs, overwrites }: Ends,
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
  checkApart(primitives, outputs, overwrites, onHost, onEngine);
  return { onHost, onEngine, unbound };
}

/**
 * An output may be written while inputs and other outputs are still in use, so it must not share memory with
 * them, except with an input that it may overwrite.
 */
function checkApart<T extends TensorDesc>(
  primitives: Primitives<T>,
  outputs: readonly LogicalTensor[],
  overwrites: Overwrites,
  onHost: ReadonlyMap<number, Tensor>,
  onEngine: ReadonlyMap<number, T>,
): void {
  const isOutput = new Set(outputs.map(({ id }) => id));
  const byMemory = new Map<object, Stretch[]>();
  const add = (id: number, placed: Placed): void => {
    const others = byMemory.get(placed.memory);
    const stretch = { id, placed, end: endOf(placed), isOutput: isOutput.has(id) };
    if (others) others.push(stretch);
    else byMemory.set(placed.memory, [stretch]);
  };
  for (const [id, desc] of onEngine) add(id, { ...primitives.placeOf(desc, `tensor ${id}`), desc });
  for (const [id, desc] of onHost) add(id, { ...hostPrimitives.placeOf(desc), desc });
  for (const together of byMemory.values()) {
    // Sorted by start, a tensor can overlap only earlier tensors that have not ended.
    together.sort((a, b) => a.placed.byteOffset - b.placed.byteOffset);
    let open: Stretch[] = [];
    for (const stretch of together) {
      open = open.filter(({ end }) => end > stretch.placed.byteOffset);
      for (const other of open) {
        if (stretch.id === other.id || !(stretch.isOutput || other.isOutput)) continue;
        if (!overlap(stretch.placed, other.placed)) continue;
        const [output, tensor] = stretch.isOutput ? [stretch, other] : [other, stretch];
        const isPair = !tensor.isOutput && isSamePlace(output.placed, tensor.placed);
        if (isPair && overwrites(output.id, tensor.id)) continue;
        throw new InvalidArgumentError(
          `tensor ${output.id}`,
          `is an output and must not overlap tensor ${tensor.id} in memory`,
        );
      }
      open.push(stretch);
    }
  }
}

/** The byte range of a bound tensor. */
interface Stretch {
  readonly id: number;
  readonly placed: Placed;
  readonly end: number;
  readonly isOutput: boolean;
}

/**
 * The additional rules for recording, which allocates nothing and uploads only scalars.
 * @throws InvalidArgumentError naming the tensor.
 */
export function checkEncodable<T>({ onHost, unbound }: Checked<T>): void {
  for (const { id } of unbound) {
    throw new InvalidArgumentError(`tensor ${id}`, 'is an output, and outputs must be bound for encode');
  }
  for (const [id, { shape }] of onHost) {
    if (elementCount(shape) <= 2) continue;
    throw new InvalidArgumentError(
      `tensor ${id}`,
      'must be a tensor of the engine for encode, got a host tensor',
    );
  }
}
