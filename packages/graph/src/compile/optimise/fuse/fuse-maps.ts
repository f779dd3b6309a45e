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

/** The most tensors that one kernel reads: with the output, the eight bindings that every device has. */
const MOST_INPUTS = 7;

/** The most nodes of a fused expression: longer ones gain nothing and compile slowly. */
const MOST_NODES = 256;

/** The most nodes of an expression that several readers compute again, which takes less than to store it. */
const MOST_SHARED_NODES = 8;

/** A map that is not written until it is known whether all its readers compute it themselves. */
interface Waiting {
  readonly step: MapStep;
  /** Readers to come. */
  readers: number;
}

/**
 * Fuses chains of maps. A map that other maps alone read, element by element, becomes part of the expressions
 * of its readers, and its result is not stored; an expression of several readers must be small. Results of 16
 * bits are stored, since they are rounded.
 * @param intoReductions whether sums compute the maps that they read, too.
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
 * A step fused with the waiting maps that it reads, within the limits; `left` are the maps that do not fit.
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
    if (all.size - 1 > MOST_INPUTS || grown > MOST_NODES) {
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
 * The expression of a map in which loads of a producer's result are the producer's expression, each built
 * once.
 */
function composed(
  step: PlacedStep,
  producers: ReadonlyMap<number, MapStep>,
  inputs: readonly number[],
): Expr {
  const made = new Map<MapStep, Expr>();
  const own = step.inputs;
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

/** Whether a step may compute the maps that it reads. */
type IsReader = (step: Step) => step is PlacedStep;

/**
 * How many maps compute a result themselves: all its readers, if they read it element by element and storing
 * it would not round it; else 0.
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
  if (readers.length > 1 && nodes(value).length > MOST_SHARED_NODES) return 0;
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

/** Whether a map reads a value only at the element that it computes, and touches no view of the value. */
function readsInPlace(step: PlacedStep, value: number, values: readonly ProgramValue[]): boolean {
  const { inputs } = step;
  if (touched(step).some(other => other !== value && ownerOf(other, values) === value)) return false;
  const isElsewhere = loads(expressionOf(step)).some(
    e => inputs[loadedInput(e, inputs.length) ?? -1] === value && e.index.length > 0,
  );
  return inputs.includes(value) && !isElsewhere;
}
