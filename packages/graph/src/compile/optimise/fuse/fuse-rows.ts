import { type Expr, sameShape } from '@tilewise/core';
import { constant, nodes } from '@tilewise/core/expr';
import { inputName, type RowsPrimitive } from '@tilewise/core/primitive';
import { rewriteExpr } from '../../../ir/program/expr.ts';
import {
  ownerOf,
  type PrimitiveStep,
  type Program,
  type ProgramValue,
  type Step,
} from '../../../ir/program/program.ts';
import {
  expressionOf,
  isExtreme,
  nameAmong,
  type PlacedStep,
  placeKey,
  placesOf,
  usersOf,
  withInputs,
} from '../placed-step.ts';
import { groupSteps } from './group-steps.ts';
import { MAX_NODES, MAX_TENSORS } from './limits.ts';

/**
 * The maximum number of elements in a row. For longer rows, separate kernels with their own workgroups are
 * faster.
 */
const MAX_ELEMENTS = 8192;

/**
 * Fuses reductions over the same rows and maps over the same elements, if one reads another's result or both
 * read the same tensor. Examples are a norm and its gradient, and the update of several moments.
 */
export function fuseRows(program: Program): Program {
  const values = [...program.values];
  const users = usersOf(program);
  const groups = groupSteps(program.steps, values, (step, members) => canJoin(step, members, values, users));
  const fused = new Map<number, Step>();
  const members = new Set<Step>();
  for (const group of groups) {
    const made = group.members.length > 1 && rowsOf(group.members, values, users);
    if (!made) continue;
    fused.set(group.place, made);
    for (const member of group.members) members.add(member);
  }
  const steps = program.steps.flatMap((step, place): readonly Step[] => {
    const made = fused.get(place);
    if (made) return [made];
    return members.has(step) ? [] : [step];
  });
  return { values, steps };
}

const axesOf = ({ primitive }: PlacedStep): readonly number[] | null =>
  primitive.kind === 'reduce' ? primitive.axes : null;

/** Whether a step and the members of a group can be one step. */
function canJoin(
  step: PlacedStep,
  members: readonly PlacedStep[],
  values: ProgramValue[],
  users: ReturnType<typeof usersOf>,
): boolean {
  const domain = placesOf(members[0], values);
  if (!sameShape(placesOf(step, values), domain)) return false;
  const [axes, ...others] = [...members, step].flatMap(member => {
    const own = axesOf(member);
    return own ? [own] : [];
  });
  if (others.some(own => !sameShape(own, axes))) return false;
  if ((axes ?? []).reduce((count, d) => count * domain[d], 1) > MAX_ELEMENTS) return false;
  const given = new Set(members.flatMap(({ outputs }) => outputs));
  const whole = (of: PlacedStep): string[] =>
    of.inputs.filter(n => sameShape(values[n].desc.shape, domain)).map(n => placeKey(n, values));
  const shared = new Set(members.flatMap(whole));
  const isNear = step.inputs.some(n => given.has(n)) || whole(step).some(key => shared.has(key));
  return isNear && rowsOf([...members, step], values, users) !== null;
}

/**
 * Several steps as one; null if a step reads another's result at another position, or there are too many
 * tensors.
 */
function rowsOf(
  members: readonly PlacedStep[],
  values: readonly ProgramValue[],
  users: ReturnType<typeof usersOf>,
): PrimitiveStep | null {
  const own = new Set<Step>(members);
  const domain = placesOf(members[0], values);
  const inputs: number[] = [];
  const reductions: Mutable<RowsPrimitive['reductions']> = [];
  const outputs: { readonly value: number; readonly is: number | Expr }[] = [];
  let axes: readonly number[] = [];
  /** The results of members as expressions, by the key of their location in memory. */
  const given = new Map<string, Expr>();
  const owners = new Set<number>();
  for (const member of members) {
    const { primitive } = member;
    const expr = withInputs(expressionOf(member), member.inputs.length, (at, load) => {
      const value = member.inputs[at];
      if (owners.has(ownerOf(value, values))) {
        if (load.index.length > 0 || isExtreme(member)) return null;
        return given.get(placeKey(value, values)) ?? null;
      }
      const element = load.index.length === 0 ? elementOf(value, values) : null;
      const name = nameAmong(element ? element.of : value, inputs);
      return element ? { ...load, name, index: [constant(element.at, 'i32')] } : { ...load, name };
    });
    if (expr === null || nodes(expr).length > MAX_NODES) return null;
    const [output] = member.outputs;
    const owner = ownerOf(output, values);
    const isRead = [...(users.get(owner) ?? [])].some(step => !own.has(step));
    const isStored = isRead || values[owner].kind !== 'temporary';
    // If another member writes to the same memory too, the result would have to be read from memory.
    if (owners.has(owner) && !isStored) return null;
    owners.add(owner);
    // A result that is stored in another dtype must be read as stored, that is rounded. An expression of
    // another type takes no part in expressions of f32 numbers.
    const isExact = values[output].desc.dtype === 'f32' && expr.type === 'f32';
    if (primitive.kind === 'reduce') {
      ({ axes } = primitive);
      const { op, result } = primitive;
      const count = reductions.push({ op, element: expr, result });
      if (isExact) given.set(placeKey(output, values), resultOf(count - 1));
      if (isStored) outputs.push({ value: output, is: count - 1 });
    } else {
      if (isExact) given.set(placeKey(output, values), expr);
      if (isStored) outputs.push({ value: output, is: expr });
    }
  }
  if (outputs.length === 0 || inputs.length + outputs.length > MAX_TENSORS) return null;
  const named = (expr: Expr): Expr => withResults(expr, inputs.length);
  const primitive: RowsPrimitive = {
    ...{ kind: 'rows', domain, axes },
    reductions: reductions.map(reduction => ({ ...reduction, element: named(reduction.element) })),
    outputs: outputs.map(({ is }) => (typeof is === 'number' ? is : named(is))),
  };
  return { kind: 'primitive', primitive, inputs, outputs: outputs.map(({ value }) => value) };
}

/**
 * The vector and index of a value that is one element of a vector, so that several such values take one
 * binding; null for other values.
 */
function elementOf(
  value: number,
  values: readonly ProgramValue[],
): { readonly of: number; readonly at: number } | null {
  const own = values[value];
  if (own.kind !== 'view' || own.desc.shape.some(n => n !== 1)) return null;
  const { shape, strides } = values[own.of].desc;
  return shape.length === 1 && strides[0] === 1 ? { of: own.of, at: own.offset ?? 0 } : null;
}

type Mutable<A extends readonly unknown[]> = A[number][];

/** A placeholder for the result of a reduction, used until the number of inputs is known. */
const resultOf = (n: number): Expr => ({ kind: 'load', type: 'f32', name: `reduction${n}`, index: [] });

/**
 * Replaces the placeholders of reduction results in an expression by their final names, which follow the
 * inputs.
 */
function withResults(expr: Expr, inputs: number): Expr {
  return rewriteExpr(expr, e => {
    const at = e.kind === 'load' ? /^reduction(\d+)$/.exec(e.name) : null;
    return e.kind === 'load' && at ? { ...e, name: inputName(inputs + Number(at[1])) } : null;
  });
}
