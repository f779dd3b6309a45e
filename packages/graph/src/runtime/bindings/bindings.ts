import { elementCount, InvalidArgumentError, Tensor, type TensorDesc } from '@tilewise/core';
import { hostPlaceOf, type Primitives } from '@tilewise/core/primitive';
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
export type CheckBindings<T> = (bindings: Bindings<Bindable<T>>) => Checked<T>;

/** Makes a function that checks bindings. Tensors that were bound at the last call are not checked again. */
export function createCheckBindings<T extends TensorDesc>(
  primitives: Primitives<T>,
  { inputs, outputs, overwrites }: Ends,
): CheckBindings<T> {
  const isOutput = new Set(outputs.map(({ id }) => id));
  const expected = new Map([...inputs, ...outputs].map(t => [t.id, storageDesc(t)] as const));
  /** The tensors of the last bindings that passed, by id. */
  let last: ReadonlyMap<number, Seen> = new Map();

  /** A bound tensor, which is known if it was bound to this id at the same place. */
  function stretchOf(t: LogicalTensor, desc: T | Tensor): Stretch {
    const known = last.get(t.id);
    const isSame = known !== undefined && desc !== undefined && known.tensor.deref() === desc;
    if (!isSame) checkBound(t, desc, expected.get(t.id) ?? storageDesc(t));
    const isHost = desc instanceof Tensor && !isOutput.has(t.id);
    const { memory, byteOffset } = isHost
      ? hostPlaceOf(desc)
      : primitives.placeOf(desc as T, `tensor ${t.id}`);
    const placed = { memory, byteOffset, desc };
    const isKnown = isSame && known.memory.deref() === memory && known.byteOffset === byteOffset;
    const end = isKnown ? known.end : endOf(placed);
    return { id: t.id, placed, end, isOutput: isOutput.has(t.id), isKnown };
  }

  return bindings => {
    const onHost = new Map<number, Tensor>();
    const onEngine = new Map<number, T>();
    const all: Stretch[] = [];
    for (const t of inputs) {
      const given = bindings[t.id];
      if (isScalarValue(given)) {
        onHost.set(t.id, scalarTensor(t, given));
        continue;
      }
      all.push(stretchOf(t, given));
      if (given instanceof Tensor) onHost.set(t.id, given);
      else onEngine.set(t.id, given);
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
      all.push(stretchOf(t, given));
      onEngine.set(t.id, given as T);
    }
    const changed = all.filter(({ isKnown }) => !isKnown);
    checkApart(overwrites, changed, all);
    // Unless the same tensors were bound.
    if (changed.length > 0 || all.length !== last.size) last = new Map(all.map(seenOf));
    return { onHost, onEngine, unbound };
  };
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
  if (a.id === b.id || !(a.isOutput || b.isOutput) || a.placed.memory !== b.placed.memory) return;
  if (a.end <= b.placed.byteOffset || b.end <= a.placed.byteOffset || !overlap(a.placed, b.placed)) return;
  const [output, tensor] = a.isOutput ? [a, b] : [b, a];
  const isPair = !tensor.isOutput && isSamePlace(output.placed, tensor.placed);
  if (isPair && overwrites(output.id, tensor.id)) return;
  throw new InvalidArgumentError(
    `tensor ${output.id}`,
    `is an output and must not overlap tensor ${tensor.id} in memory`,
  );
}

/** A bound tensor and its byte range. */
interface Stretch {
  readonly id: number;
  readonly placed: Placed;
  readonly end: number;
  readonly isOutput: boolean;
  /** Whether the last bindings had the same tensor at the same place. */
  readonly isKnown: boolean;
}

/** A tensor of earlier bindings, which is not kept alive. */
interface Seen {
  readonly tensor: WeakRef<TensorDesc>;
  readonly memory: WeakRef<object>;
  readonly byteOffset: number;
  readonly end: number;
}

function seenOf({ id, placed: { desc, memory, byteOffset }, end }: Stretch): [number, Seen] {
  return [id, { tensor: new WeakRef(desc), memory: new WeakRef(memory), byteOffset, end }];
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
