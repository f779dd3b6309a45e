import { type Expr, sameShape } from '@tilewise/core';
import { loads, nodes } from '@tilewise/core/expr';
import { inputName } from '@tilewise/core/primitive';
import { exprType, rewriteExpr } from '../../../ir/program/expr.ts';
import { ownerOf, type Program, type ProgramValue, type Step } from '../../../ir/program/program.ts';
import { touched } from '../../memory-plan.ts';
import {
  expressionOf,
  isExtreme,
  isMap,
  isPlaced,
  loadedInput,
  type MapStep,
  type PlacedStep,
  placesOf,
  usersOf,
  withExpression,
} from '../placed-step.ts';
import { MAX_NODES, MAX_TENSORS } from './limits.ts';

/**
 * The maximum number of nodes in an expression that several readers recompute, which is cheaper than storing
 * its result.
 */
const MAX_SHARED_NODES = 8;

/** A map that is held back until it is known whether all its readers compute it themselves. */
interface Waiting {
  readonly step: MapStep;
  /** The number of readers that have not been visited yet. */
  readers: number;
}

/**
 * Fuses chains of maps. A map that only other maps read, element by element, becomes part of its readers'
 * expressions, and its result is not stored. If there are several readers, the expression must be small.
 * 16-bit results are still stored, because storing rounds them.
 * @param intoReductions whether maps are fused into the sums that read them too.
 */
export function fuseMaps(program: Program, intoReductions = false): Program {
  const { values } = program;
  const isSum = (step: Step): step is PlacedStep => isPlaced(step) && !isExtreme(step);
  const isReader: IsReader = intoReductions ? isSum : isMap;
  const users = usersOf(program);
  const waiting = new Map<number, Waiting>();
  const steps: Step[] = [];
  for (const step of program.steps) {
    if (!isReader(step)) {
      steps.push(step);
      continue;
    }
    const { fused, left } = withProducers(step, waiting);
    steps.push(...left);
    if (!isMap(fused)) {
      steps.push(fused);
      continue;
    }
    const [output] = fused.outputs;
    const readers = readersOf(output, fused, values, users, isReader);
    if (readers > 0) waiting.set(output, { step: fused, readers });
    else steps.push(fused);
  }
  return { values, steps };
}

/**
 * A step fused with the waiting maps that it reads, within the limits; `left` lists the maps that do not fit.
 */
function withProducers(
  step: PlacedStep,
  waiting: Map<number, Waiting>,
): { readonly fused: PlacedStep; readonly left: readonly MapStep[] } {
  const producers = new Map<number, MapStep>();
  const left: MapStep[] = [];
  const inputs = new Set(step.inputs);
  let size = sizeOf(step);
  for (const value of new Set(step.inputs)) {
    const known = waiting.get(value);
    if (!known) continue;
    const producer = known.step;
    known.readers--;
    const all = new Set([...inputs, ...producer.inputs]);
    const grown = size + sizeOf(producer);
    // The output takes the place of the fused value, which `all` contains.
    if (all.size > MAX_TENSORS || grown > MAX_NODES) {
      left.push(producer);
      waiting.delete(value);
    } else {
      if (known.readers === 0) waiting.delete(value);
      size = grown;
      inputs.delete(value);
      for (const input of producer.inputs) inputs.add(input);
      producers.set(value, producer);
    }
  }
  if (producers.size === 0) return { fused: step, left };
  const order = [...inputs];
  return { fused: withExpression(step, composed(step, producers, order), order), left };
}

const sizeOf = (step: PlacedStep): number => nodes(expressionOf(step)).length;

/**
 * The expression of a map in which the producers' expressions replace the loads of their results; each is
 * built once.
 */
function composed(
  step: PlacedStep,
  producers: ReadonlyMap<number, MapStep>,
  inputs: readonly number[],
): Expr {
  const made = new Map<MapStep, Expr>();
  const own = step.inputs;
  // With its own inputs an expression does not change; a long chain is then not rewritten at every map.
  if (producers.size === 0 && sameShape(own, inputs)) return expressionOf(step);
  return rewriteExpr(expressionOf(step), (e, rewrite) => {
    const at = loadedInput(e, own.length);
    if (e.kind !== 'load' || at === null) return null;
    const producer = producers.get(own[at]);
    if (producer) {
      const known = made.get(producer) ?? composed(producer, noProducers, inputs);
      made.set(producer, known);
      return known;
    }
    return { ...e, name: inputName(inputs.indexOf(own[at])), index: e.index.map(rewrite) };
  });
}

const noProducers: ReadonlyMap<number, MapStep> = new Map();

/** Whether the maps that a step reads may be fused into it. */
type IsReader = (step: Step) => step is PlacedStep;

/**
 * The number of readers that compute a result themselves: all of them, if they read it element by element and
 * storing it would not round it; else 0.
 */
function readersOf(
  output: number,
  { primitive: { value } }: MapStep,
  values: readonly ProgramValue[],
  users: ReturnType<typeof usersOf>,
  isReader: IsReader,
): number {
  const { kind, desc } = values[output];
  const [, ...readers] = users.get(output) ?? [];
  if (kind !== 'temporary') return 0;
  if (readers.length > 1 && nodes(value).length > MAX_SHARED_NODES) return 0;
  const isExact = desc.dtype === 'f32' || desc.dtype === 'i32' || desc.dtype === 'bool';
  const isFused =
    isExact &&
    value.type === exprType(desc.dtype) &&
    readers.every(
      reader =>
        isReader(reader) &&
        sameShape(desc.shape, placesOf(reader, values)) &&
        readsInPlace(reader, output, values),
    );
  return isFused ? readers.length : 0;
}

/** Whether a map reads a value only at the element that it computes, and accesses no view of the value. */
function readsInPlace(step: PlacedStep, value: number, values: readonly ProgramValue[]): boolean {
  const { inputs } = step;
  if (touched(step).some(other => other !== value && ownerOf(other, values) === value)) return false;
  const isElsewhere = loads(expressionOf(step)).some(
    e => inputs[loadedInput(e, inputs.length) ?? -1] === value && e.index.length > 0,
  );
  return inputs.includes(value) && !isElsewhere;
}
