import { type Expr, elementCount, sameShape } from '@tilewise/core';
import {
  ownerOf,
  type PrimitiveStep,
  type Program,
  type ProgramValue,
  type Step,
  valuesByOwner,
} from '../../../ir/program/program.ts';
import { touched } from '../../memory-plan.ts';
import { placeKey } from '../placed-step.ts';
import { type Layout, layoutOf, placeThrough } from './place-through.ts';

/** A copy of elements from the memory of a value. */
export interface Copy {
  readonly source: number;
  readonly from: Layout;
  readonly target: number;
}

/** The operands and results of attention that may have any strides, except in their last dimension. */
const strided = new Set(['q', 'k', 'v', 'o', 'dO', 'dq', 'dk', 'dv']);

/**
 * Removes copies, such as transposes and slices: readers of the copy read its source through strides, or the
 * writer of the source writes the copy. For engines whose kernels accept any strides.
 */
export function copiesAsViews(program: Program): Program {
  const values = [...program.values];
  const steps: Step[] = [];
  const uses = usesOf(program);
  for (const step of program.steps) {
    const copy = step.kind === 'primitive' ? copyOf(step, values) : null;
    if (!copy || !(readInPlace(copy, values, uses) || writeInPlace(copy, values, uses))) steps.push(step);
  }
  return withoutEqualViews({ values, steps });
}

/** Makes primitives read equal views as one tensor, which takes one binding. */
function withoutEqualViews({ values, steps }: Program): Program {
  const first = new Map<string, number>();
  const unique = (value: number): number => {
    const key = `${values[value].desc.dtype} ${placeKey(value, values)}`;
    const known = first.get(key) ?? value;
    first.set(key, known);
    return known;
  };
  return {
    values,
    steps: steps.map(step =>
      step.kind === 'primitive' ? { ...step, inputs: step.inputs.map(unique) } : step,
    ),
  };
}

/** How values are used, by their index. */
export interface Uses {
  readonly used: ReadonlySet<number>;
  /** The values that attention uses: strided ones (`rows`), and others, which must not change (`fixed`). */
  readonly rows: ReadonlySet<number>;
  readonly fixed: ReadonlySet<number>;
  /** The owners of memory that an operation overwrites in part. */
  readonly overwritten: ReadonlySet<number>;
  /** The values in each memory, by its owner; values that move to another memory are added there. */
  readonly byOwner: ReadonlyMap<number, Set<number>>;
}

/** How a program's values are used. */
export function usesOf({ values, steps }: Program): Uses {
  const [used, rows, fixed] = [new Set<number>(), new Set<number>(), new Set<number>()];
  const overwritten = new Set<number>();
  for (const step of steps)
    if (step.kind === 'primitive' && step.primitive.kind === 'tensor-scatter')
      for (const value of step.outputs) overwritten.add(ownerOf(value, values));
  for (const step of steps) {
    for (const value of touched(step)) used.add(value);
    if (step.kind === 'primitive') continue;
    for (const value of touched(step)) fixed.add(value);
    if (step.kind !== 'attention-call') continue;
    for (const [name, value] of Object.entries({ ...step.operands, ...step.results })) {
      if (strided.has(name)) rows.add(value);
    }
  }
  for (const value of rows) fixed.delete(value);
  return { used, rows, fixed, overwritten, byOwner: valuesByOwner(values) };
}

/** The layout of a value in the memory of its owner. */
const layoutIn = (value: ProgramValue): Layout =>
  layoutOf(value.desc, value.kind === 'view' ? value.offset : 0);

/** Makes the readers of a copy read its source, if strides can express that. */
function readInPlace({ source, from, target }: Copy, values: ProgramValue[], uses: Uses): boolean {
  if (values[target].kind !== 'temporary') return false;
  return move(target, layoutIn(values[target]), ownerOf(source, values), from, values, uses);
}

/** Makes the writers of the source write the copy's memory, if the source fills its own memory. */
export function writeInPlace({ source, from, target }: Copy, values: ProgramValue[], uses: Uses): boolean {
  const owner = ownerOf(source, values);
  if (values[owner].kind !== 'temporary' || ownerOf(target, values) === owner) return false;
  if (elementCount(values[owner].desc.shape) !== elementCount(from.shape)) return false;
  return move(owner, from, ownerOf(target, values), layoutIn(values[target]), values, uses);
}

/**
 * Makes a value and its views views of another value, in which the elements of `from` are those of `to`.
 * Returns false, without a change, if strides cannot express that.
 */
function move(
  owner: number,
  from: Layout,
  target: number,
  to: Layout,
  values: ProgramValue[],
  { used, rows, fixed, overwritten, byOwner }: Uses,
): boolean {
  if (overwritten.has(owner) || overwritten.has(target)) return false;
  const moved: (readonly [value: number, view: ProgramValue])[] = [];
  for (const n of byOwner.get(owner) ?? []) {
    const value = values[n];
    const place = placeThrough(layoutIn(value), from, to);
    if (place === null || fixed.has(n) || (rows.has(n) && place.strides.at(-1) !== 1)) {
      if (used.has(n) || n === owner) return false;
      continue;
    }
    const { dtype } = value.desc;
    const { shape, strides, offset } = place;
    moved.push([n, { kind: 'view', of: target, desc: { dtype, shape, strides }, offset }]);
  }
  for (const [n, view] of moved) {
    values[n] = view;
    byOwner.get(target)?.add(n);
  }
  return true;
}

/** A step as a copy of evenly spaced elements; null for any other step. */
export function copyOf(
  { primitive, inputs, outputs }: PrimitiveStep,
  values: readonly ProgramValue[],
): Copy | null {
  if (primitive.kind !== 'map' || primitive.value.kind !== 'load' || inputs.length !== 1) return null;
  const [source, target] = [inputs[0], outputs[0]];
  const [read, written] = [values[source], values[target]];
  const { index, name } = primitive.value;
  const isOther = name !== 'x0' || read.desc.dtype !== written.desc.dtype;
  if (isOther || ownerOf(source, values) === ownerOf(target, values)) return null;
  const own = layoutIn(read);
  if (index.length === 0) {
    return sameShape(own.shape, written.desc.shape) ? { source, from: own, target } : null;
  }
  const { shape } = written.desc;
  const strides = shape.map(() => 0);
  let { offset } = own;
  for (const [d, expr] of index.entries()) {
    const at = affine(expr);
    // Indices outside the tensor would be clamped to its edge.
    if (at === null || at.factor < 0 || at.start < 0) return null;
    const last = at.start + (at.dimension === null ? 0 : at.factor * (shape[at.dimension] - 1));
    if (last >= own.shape[d]) return null;
    offset += at.start * own.strides[d];
    if (at.dimension !== null) strides[at.dimension] += at.factor * own.strides[d];
  }
  return { source, from: { shape, strides, offset }, target };
}

/** start + factor · coordinate, for the coordinate of one dimension. */
interface Affine {
  readonly start: number;
  readonly factor: number;
  readonly dimension: number | null;
}

/** An expression as a linear function of one coordinate; null for any other expression. */
function affine(expr: Expr): Affine | null {
  if (expr.kind === 'constant') return { start: Number(expr.value), factor: 0, dimension: null };
  if (expr.kind === 'load' && expr.name === 'coordinate' && expr.index[0]?.kind === 'constant')
    return { start: 0, factor: 1, dimension: Number(expr.index[0].value) };
  if (expr.kind !== 'binary') return null;
  const [a, b] = [affine(expr.a), affine(expr.b)];
  if (!a || !b || (a.dimension !== null && b.dimension !== null)) return null;
  const dimension = a.dimension ?? b.dimension;
  if (expr.op === 'add') return { start: a.start + b.start, factor: a.factor + b.factor, dimension };
  if (expr.op !== 'mul') return null;
  const [constant, other] = a.dimension === null ? [a, b] : [b, a];
  const { start } = constant;
  return { start: other.start * start, factor: other.factor * start, dimension };
}
