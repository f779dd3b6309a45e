import { type Expr, isContiguous, type Shape, sameShape } from '@tilewise/core';
import { inputName, type MapPrimitive, type ReducePrimitive } from '@tilewise/core/primitive';
import { rewriteExpr } from '../../ir/program/expr.ts';
import {
  ownerOf,
  type PrimitiveStep,
  type Program,
  type ProgramValue,
  type Step,
} from '../../ir/program/program.ts';
import { touched } from '../memory-plan.ts';
import { isCopy } from '../overwrites.ts';

/** A step that computes an expression at each position of a shape. */
export interface PlacedStep extends PrimitiveStep {
  readonly primitive: MapPrimitive | ReducePrimitive;
}

/** A map. */
export interface MapStep extends PrimitiveStep {
  readonly primitive: MapPrimitive;
}

export function isMap(step: Step): step is MapStep {
  return step.kind === 'primitive' && step.primitive.kind === 'map';
}

/** Whether a step copies elements of one tensor, in any order and perhaps to another dtype. */
export const isMove = (step: Step): step is MapStep =>
  isMap(step) && loadedInput(step.primitive.value, step.inputs.length) === 0 && step.inputs.length === 1;

export function isPlaced(step: Step): step is PlacedStep {
  return isMap(step) || (step.kind === 'primitive' && step.primitive.kind === 'reduce');
}

/**
 * Whether a step finds a largest or smallest element. Gradients test which element that is, so the step must
 * read exactly the same bits as other steps.
 */
export const isExtreme = ({ primitive }: PlacedStep): boolean =>
  primitive.kind === 'reduce' && (primitive.op === 'max' || primitive.op === 'min');

/** The expression that a step computes at each position. */
export const expressionOf = ({ primitive }: PlacedStep): Expr =>
  primitive.kind === 'map' ? primitive.value : primitive.element;

/** The step with another expression and other inputs. */
export function withExpression<S extends PlacedStep>(step: S, expr: Expr, inputs: readonly number[]): S {
  const { primitive } = step;
  const changed = primitive.kind === 'map' ? { ...primitive, value: expr } : { ...primitive, element: expr };
  return { ...step, primitive: changed, inputs };
}

/** Whether a step copies a dense tensor to a dense temporary of the same shape, perhaps of another dtype. */
export const isDenseCopy = (step: PrimitiveStep, values: readonly ProgramValue[]): boolean =>
  values[step.outputs[0]].kind === 'temporary' && isWholeCopy(step, values);

/** Whether a step copies a dense tensor to another of the same shape, perhaps of another dtype. */
export function isWholeCopy(
  { primitive, inputs, outputs }: PrimitiveStep,
  values: readonly ProgramValue[],
): boolean {
  const [from, to] = [values[inputs[0]], values[outputs[0]]];
  return (
    inputs.length === 1 &&
    isCopy(primitive) &&
    sameShape(from.desc.shape, to.desc.shape) &&
    [from, to].every(({ desc: { shape, strides } }) => isContiguous(shape, strides))
  );
}

/** The shape whose positions a step computes its expression for. */
export const placesOf = ({ primitive, outputs }: PlacedStep, values: readonly ProgramValue[]): Shape =>
  primitive.kind === 'map' ? values[outputs[0]].desc.shape : primitive.domain;

/** The index of the input that an expression loads; null for any other expression. */
export function loadedInput(e: Expr, count: number): number | null {
  if (e.kind !== 'load') return null;
  const at = Number(e.name.slice(1));
  return at < count && e.name === inputName(at) ? at : null;
}

/** The name by which an expression loads a value, which becomes an input if it is none yet. */
export function nameAmong(value: number, inputs: number[]): string {
  const known = inputs.indexOf(value);
  return inputName(known < 0 ? inputs.push(value) - 1 : known);
}

/**
 * Rewrites an expression of some inputs as an expression of other inputs.
 * @param place returns the replacement for a load of an input, at the current or another position; null if
 * there is none.
 * @returns null if a load has no replacement.
 */
export function withInputs(
  expr: Expr,
  count: number,
  place: (input: number, load: Expr & { readonly kind: 'load' }) => Expr | null,
): Expr | null {
  let isWhole = true;
  const made = rewriteExpr(expr, (e, rewrite) => {
    const at = loadedInput(e, count);
    if (e.kind !== 'load' || at === null) return null;
    const placed = place(at, { ...e, index: e.index.map(rewrite) });
    isWhole &&= placed !== null;
    return placed ?? e;
  });
  return isWhole ? made : null;
}

/** A key for the location of a value; values with the same key are the same tensor. */
export function placeKey(value: number, values: readonly ProgramValue[]): string {
  const own = values[value];
  const { shape, strides } = own.desc;
  return JSON.stringify([
    ownerOf(value, values),
    own.kind === 'view' ? (own.offset ?? 0) : 0,
    shape,
    // The stride of an extent of 1 does not matter.
    strides.map((stride, d) => (shape[d] === 1 ? 0 : stride)),
  ]);
}

/** The steps that access each memory, by the value that owns the memory. */
export function usersOf({ values, steps }: Program): ReadonlyMap<number, ReadonlySet<Step>> {
  const users = new Map<number, Set<Step>>();
  for (const step of steps) {
    for (const value of touched(step)) {
      const owner = ownerOf(value, values);
      users.set(owner, (users.get(owner) ?? new Set()).add(step));
    }
  }
  return users;
}
