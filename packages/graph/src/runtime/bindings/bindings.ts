import { elementCount, InvalidArgumentError, Tensor, type TensorDesc } from '@tilewise/core';
import { hostPlaceOf, type Primitives } from '@tilewise/core/primitive';
import type { Overwrites } from '../../compile/overwrites.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { isScalarValue } from '../../ir/tensor/scalar.ts';
import { scalarTensor, storageDesc } from '../../ir/tensor/storage.ts';
import { type Bindable, checkBound } from './bindable.ts';
import { LastObject } from './last-object.ts';
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
export type CheckBindings<T> = (bindings: Bindings<Bindable<T>>) => Checked<T>;

/** An input or output, and the tensor of the last bindings that passed. */
interface Slot {
  readonly tensor: LogicalTensor;
  /** The name of the tensor in errors. */
  readonly name: string;
  readonly isOutput: boolean;
  readonly expected: TensorDesc;
  readonly last: LastObject<TensorDesc>;
  /** The first byte of the last tensor. */
  byteOffset: number;
}

/** Checks bindings. Tensors that were bound at the last call are not checked again. */
export interface BindingsCheck<T> {
  readonly check: CheckBindings<T>;
  /** Lets go of the tensors of earlier calls. */
  release(): void;
}

/** Prepares to check bindings of inputs and outputs. */
export function createCheckBindings<T extends TensorDesc>(
  primitives: Primitives<T>,
  { inputs, outputs, overwrites }: Ends,
): BindingsCheck<T> {
  const slotOf = (tensor: LogicalTensor, isOutput: boolean): Slot => {
    const last = new LastObject<TensorDesc>();
    return {
      tensor,
      name: `tensor ${tensor.id}${tensor.name ? ` '${tensor.name}'` : ''}`,
      isOutput,
      expected: storageDesc(tensor),
      last,
      byteOffset: 0,
    };
  };
  const slots = [...inputs.map(t => slotOf(t, false)), ...outputs.map(t => slotOf(t, true))];

  /** A bound tensor, which is known if the last bindings had the same tensor at the same place. */
  function boundTensorOf(slot: Slot, desc: T | Tensor): BoundTensor {
    const isSame = desc !== undefined && slot.last.is(desc);
    if (!isSame) checkBound(slot.tensor, desc, slot.expected);
    const isHost = desc instanceof Tensor && !slot.isOutput;
    const place = isHost ? hostPlaceOf(desc, slot.name) : primitives.placeOf(desc as T, slot.name);
    return { slot, desc, ...place, isKnown: isSame && slot.byteOffset === place.byteOffset };
  }

  function check(bindings: Bindings<Bindable<T>>): Checked<T> {
    const onHost = new Map<number, Tensor>();
    const onEngine = new Map<number, T>();
    const unbound: LogicalTensor[] = [];
    const all: BoundTensor[] = [];
    for (const slot of slots) {
      const { tensor, name, isOutput } = slot;
      const given = bindings[tensor.id];
      if (isScalarValue(given)) {
        if (isOutput) throw new InvalidArgumentError(name, `is an output and cannot be the number ${given}`);
        onHost.set(tensor.id, scalarTensor(tensor, given));
        slot.last.set();
      } else if (given === undefined && isOutput) {
        unbound.push(tensor);
        slot.last.set();
      } else {
        all.push(boundTensorOf(slot, given));
        if (given instanceof Tensor && !isOutput) onHost.set(tensor.id, given);
        else onEngine.set(tensor.id, given as T);
      }
    }
    const changed = all.filter(({ isKnown }) => !isKnown);
    checkApart(overwrites, changed, all);
    for (const { slot, desc, byteOffset } of changed) {
      slot.last.set(desc);
      slot.byteOffset = byteOffset;
    }
    return { onHost, onEngine, unbound };
  }

  return {
    check,
    release() {
      for (const { last } of slots) last.release();
    },
  };
}

/** The number of tensors from which all of them are sorted, instead of comparing each with all others. */
const MANY = 16;

/**
 * An output may be written while inputs and other outputs are still in use, so it must not share memory with
 * them, except with an input that it may overwrite.
 * @param changed the tensors that have not been compared with the others of `all` yet.
 */
function checkApart(
  overwrites: Overwrites,
  changed: readonly BoundTensor[],
  all: readonly BoundTensor[],
): void {
  if (changed.length < MANY) {
    for (const bound of changed) for (const other of all) checkPair(overwrites, bound, other);
    return;
  }
  const byMemory = new Map<object, BoundTensor[]>();
  for (const bound of all) {
    const others = byMemory.get(bound.memory);
    if (others) others.push(bound);
    else byMemory.set(bound.memory, [bound]);
  }
  for (const together of byMemory.values()) {
    // Sorted by start, a tensor can overlap only earlier tensors that have not ended.
    together.sort((a, b) => a.byteOffset - b.byteOffset);
    let open: BoundTensor[] = [];
    for (const bound of together) {
      open = open.filter(other => endOf(other) > bound.byteOffset);
      for (const other of open) checkPair(overwrites, bound, other);
      open.push(bound);
    }
  }
}

function checkPair(overwrites: Overwrites, a: BoundTensor, b: BoundTensor): void {
  if (a.slot === b.slot || !(a.slot.isOutput || b.slot.isOutput) || !overlap(a, b)) return;
  const [output, other] = a.slot.isOutput ? [a, b] : [b, a];
  const isPair = !other.slot.isOutput && isSamePlace(output, other);
  if (isPair && overwrites(output.slot.tensor.id, other.slot.tensor.id)) return;
  const rule = `is an output and must not overlap ${other.slot.name} in memory`;
  throw new InvalidArgumentError(output.slot.name, rule);
}

/** A bound tensor and its place. */
interface BoundTensor extends Placed {
  readonly slot: Slot;
  /** Whether the last bindings had the same tensor at the same place. */
  readonly isKnown: boolean;
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
