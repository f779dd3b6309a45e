import { elementCount, InvalidArgumentError, Tensor, type TensorDesc } from '@tilewise/core';
import { hostPlaceOf, type Place, type Primitives } from '@tilewise/core/primitive';
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
  readonly memory: LastObject<object>;
  /** The first byte of the last tensor, and the one after its last. */
  byteOffset: number;
  end: number;
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
    const lasts = { last: new LastObject<TensorDesc>(), memory: new LastObject<object>() };
    const name = `tensor ${tensor.id}`;
    return { tensor, name, isOutput, expected: storageDesc(tensor), ...lasts, byteOffset: 0, end: 0 };
  };
  const slots = [...inputs.map(t => slotOf(t, false)), ...outputs.map(t => slotOf(t, true))];

  /** The memory of a tensor that is bound to a slot. */
  function placeOf({ name, isOutput }: Slot, desc: T | Tensor): Place {
    return desc instanceof Tensor && !isOutput ? hostPlaceOf(desc) : primitives.placeOf(desc as T, name);
  }

  function check(bindings: Bindings<Bindable<T>>): Checked<T> {
    const onHost = new Map<number, Tensor>();
    const onEngine = new Map<number, T>();
    const unbound: LogicalTensor[] = [];
    const bound: Slot[] = [];
    const changed: Stretch[] = [];
    for (const slot of slots) {
      const { tensor, name, isOutput } = slot;
      const given = bindings[tensor.id];
      if (isScalarValue(given)) {
        if (isOutput) throw new InvalidArgumentError(name, `is an output and cannot be the number ${given}`);
        onHost.set(tensor.id, scalarTensor(tensor, given));
        slot.last.clear();
      } else if (given === undefined && isOutput) {
        unbound.push(tensor);
        slot.last.clear();
      } else {
        const stretch = changedStretch(slot, given);
        if (stretch) changed.push(stretch);
        bound.push(slot);
        if (given instanceof Tensor && !isOutput) onHost.set(tensor.id, given);
        else onEngine.set(tensor.id, given as T);
      }
    }
    if (changed.length > 0) {
      const isNew = new Set(changed.map(({ slot }) => slot));
      const memories = [...new Set(changed.map(({ placed }) => placed.memory))];
      const known = bound.filter(slot => !isNew.has(slot) && memories.some(memory => slot.memory.is(memory)));
      const others = known.map(slot => knownStretch(slot, bindings[slot.tensor.id] as T));
      checkApart(overwrites, changed, [...changed, ...others]);
      for (const stretch of changed) remember(stretch);
    }
    return { onHost, onEngine, unbound };
  }

  /** Checks a tensor; null if the last bindings had the same tensor at the same place. */
  function changedStretch(slot: Slot, desc: T | Tensor): Stretch | null {
    const isSame = desc !== undefined && slot.last.is(desc);
    if (!isSame) checkBound(slot.tensor, desc, slot.expected);
    const { memory, byteOffset } = placeOf(slot, desc);
    if (isSame && slot.byteOffset === byteOffset && slot.memory.is(memory)) return null;
    const placed = { memory, byteOffset, desc };
    return { slot, placed, end: endOf(placed) };
  }

  function knownStretch(slot: Slot, desc: T | Tensor): Stretch {
    return { slot, placed: { ...placeOf(slot, desc), desc }, end: slot.end };
  }

  return {
    check,
    release() {
      for (const { last, memory } of slots) {
        last.release();
        memory.release();
      }
    },
  };
}

function remember({ slot, placed: { desc, memory, byteOffset }, end }: Stretch): void {
  slot.last.set(desc);
  slot.memory.set(memory);
  slot.byteOffset = byteOffset;
  slot.end = end;
}

/** The number of tensors from which all of them are sorted, instead of comparing each with all others. */
const MANY = 16;

/**
 * An output may be written while inputs and other outputs are still in use, so it must not share memory with
 * them, except with an input that it may overwrite.
 * @param changed the tensors that have not been compared with the others of `all` yet.
 */
function checkApart(overwrites: Overwrites, changed: readonly Stretch[], all: readonly Stretch[]): void {
  if (changed.length < MANY) {
    for (const stretch of changed) for (const other of all) checkPair(overwrites, stretch, other);
    return;
  }
  const byMemory = new Map<object, Stretch[]>();
  for (const stretch of all) {
    const others = byMemory.get(stretch.placed.memory);
    if (others) others.push(stretch);
    else byMemory.set(stretch.placed.memory, [stretch]);
  }
  for (const together of byMemory.values()) {
    // Sorted by start, a tensor can overlap only earlier tensors that have not ended.
    together.sort((a, b) => a.placed.byteOffset - b.placed.byteOffset);
    let open: Stretch[] = [];
    for (const stretch of together) {
      open = open.filter(({ end }) => end > stretch.placed.byteOffset);
      for (const other of open) checkPair(overwrites, stretch, other);
      open.push(stretch);
    }
  }
}

function checkPair(overwrites: Overwrites, a: Stretch, b: Stretch): void {
  if (a.slot === b.slot || !(a.slot.isOutput || b.slot.isOutput) || a.placed.memory !== b.placed.memory)
    return;
  if (a.end <= b.placed.byteOffset || b.end <= a.placed.byteOffset || !overlap(a.placed, b.placed)) return;
  const [output, other] = a.slot.isOutput ? [a, b] : [b, a];
  const isPair = !other.slot.isOutput && isSamePlace(output.placed, other.placed);
  if (isPair && overwrites(output.slot.tensor.id, other.slot.tensor.id)) return;
  throw new InvalidArgumentError(
    output.slot.name,
    `is an output and must not overlap ${other.slot.name} in memory`,
  );
}

/** A bound tensor and its byte range. */
interface Stretch {
  readonly slot: Slot;
  readonly placed: Placed;
  readonly end: number;
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
