import { type Expr, sameShape } from '@tilewise/core';
import { nodes } from '@tilewise/core/expr';
import { inputName, type MapPrimitive } from '@tilewise/core/primitive';
import { exprType, rewriteExpr } from '../ir/program/expr.ts';
import type { PrimitiveStep, Program, ProgramValue, Step } from '../ir/program/program.ts';
import { touched } from './memory-plan.ts';

interface MapStep extends PrimitiveStep {
  readonly primitive: MapPrimitive;
}

/** The most tensors that one kernel reads: with the output, the eight bindings that every device has. */
const MOST_INPUTS = 7;

/** The most nodes of a fused expression: longer ones gain nothing and compile slowly. */
const MOST_NODES = 256;

/**
 * Fuses chains of maps. A map that one other map alone reads, element by element, becomes part of the
 * expression of its reader, and its result is not stored. Results of 16 bits are stored, since they are
 * rounded.
 */
export function fuseMaps(program: Program): Program {
  const { values } = program;
  const uses = usesOf(program);
  const waiting = new Map<number, MapStep>();
  const steps: Step[] = [];
  for (const step of program.steps) {
    if (!isMap(step)) {
      steps.push(step);
      continue;
    }
    const { fused, left } = withProducers(step, waiting);
    steps.push(...left);
    const [output] = fused.outputs;
    if (isPassedOn(output, fused, values, uses)) waiting.set(output, fused);
    else steps.push(fused);
  }
  return { values, steps };
}

function isMap(step: Step): step is MapStep {
  return step.kind === 'primitive' && step.primitive.kind === 'map';
}

/**
 * A map fused with the waiting maps that it reads, within the limits; `left` are the maps that do not fit.
 */
function withProducers(
  step: MapStep,
  waiting: Map<number, MapStep>,
): { readonly fused: MapStep; readonly left: readonly MapStep[] } {
  const producers = new Map<number, MapStep>();
  const left: MapStep[] = [];
  const inputs = new Set(step.inputs);
  let size = sizeOf(step);
  for (const value of step.inputs) {
    const producer = waiting.get(value);
    if (!producer) continue;
    waiting.delete(value);
    const all = new Set([...inputs, ...producer.inputs]);
    const grown = size + sizeOf(producer);
    if (all.size - 1 > MOST_INPUTS || grown > MOST_NODES) left.push(producer);
    else {
      size = grown;
      inputs.delete(value);
      for (const input of producer.inputs) inputs.add(input);
      producers.set(value, producer);
    }
  }
  if (producers.size === 0) return { fused: step, left };
  const order = [...inputs];
  const value = composed(step, producers, order);
  return { fused: { ...step, primitive: { kind: 'map', value }, inputs: order }, left };
}

const sizeOf = ({ primitive }: MapStep): number => nodes(primitive.value).length;

/**
 * The expression of a map in which loads of a producer's result are the producer's expression, each built
 * once.
 */
function composed(
  { primitive, inputs: own }: MapStep,
  producers: ReadonlyMap<number, MapStep>,
  inputs: readonly number[],
): Expr {
  const made = new Map<MapStep, Expr>();
  return rewriteExpr(primitive.value, (e, rewrite) => {
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

/** The number of the input that an expression loads; null for any other expression. */
function loadedInput(e: Expr, count: number): number | null {
  if (e.kind !== 'load') return null;
  const at = Array.from({ length: count }, (_, n) => inputName(n)).indexOf(e.name);
  return at < 0 ? null : at;
}

interface Uses {
  /** The steps that touch a value. */
  readonly of: ReadonlyMap<number, readonly Step[]>;
  /** Values that have views. */
  readonly viewed: ReadonlySet<number>;
}

function usesOf({ values, steps }: Program): Uses {
  const of = new Map<number, Step[]>();
  for (const step of steps) {
    for (const value of new Set(touched(step))) of.set(value, [...(of.get(value) ?? []), step]);
  }
  return { of, viewed: new Set(values.flatMap(value => (value.kind === 'view' ? [value.of] : []))) };
}

/** Whether one other map alone reads a result, element by element, and storing it would not round it. */
function isPassedOn(
  output: number,
  { primitive: { value } }: MapStep,
  values: readonly ProgramValue[],
  uses: Uses,
): boolean {
  const { kind, desc } = values[output];
  const [, reader, ...more] = uses.of.get(output) ?? [];
  if (kind !== 'temporary' || uses.viewed.has(output) || !reader || more.length > 0 || !isMap(reader)) {
    return false;
  }
  const isExact = desc.dtype === 'f32' || desc.dtype === 'i32' || desc.dtype === 'bool';
  return (
    isExact &&
    value.type === exprType(desc.dtype) &&
    sameShape(desc.shape, values[reader.outputs[0]].desc.shape) &&
    readsInPlace(reader, output)
  );
}

/** Whether a map reads a value only at the element that it computes. */
function readsInPlace({ primitive, inputs }: MapStep, value: number): boolean {
  let inPlace = inputs.includes(value);
  rewriteExpr(primitive.value, e => {
    const at = loadedInput(e, inputs.length);
    if (e.kind === 'load' && at !== null && inputs[at] === value && e.index.length > 0) inPlace = false;
    return null;
  });
  return inPlace;
}
