import type { LogicalTensor } from '@tilewise/graph';
import { GraphWriter } from '../model/graph-writer.ts';

/** A parameter and the running means of its gradient and of the square of it. */
export interface ParameterState<T> {
  readonly value: T;
  readonly first: T;
  readonly second: T;
}

/** The numbers of a step, all (). They change from step to step, so they are inputs. */
export interface StepNumbers<T> {
  /** What gradients are multiplied by. */
  readonly clip: T;
  readonly rate: T;
  /** What a parameter is multiplied by before it moves. */
  readonly decay: T;
  /** 1 / (1 − β₁ᵗ) and 1 / (1 − β₂ᵗ). */
  readonly firstScale: T;
  readonly secondScale: T;
}

/** A step of AdamW for one parameter, as a graph. */
export interface AdamW {
  readonly g: GraphWriter;
  readonly gradient: LogicalTensor;
  readonly numbers: StepNumbers<LogicalTensor>;
  readonly before: ParameterState<LogicalTensor>;
  readonly after: ParameterState<LogicalTensor>;
}

/** The constants of AdamW. */
export const BETA1 = 0.9;
export const BETA2 = 0.98;
export const EPSILON = 1e-8;

/** AdamW (Loshchilov and Hutter 2019, algorithm 2) for tensors of a shape. */
export function writeAdamW(shape: readonly number[]): AdamW {
  const g = new GraphWriter();
  const times = (x: LogicalTensor, y: LogicalTensor): LogicalTensor => g.op('Multiply', [x, y]);
  const mean = (old: LogicalTensor, x: LogicalTensor, beta: number): LogicalTensor =>
    g.op('Add', [times(old, g.constant(beta)), times(x, g.constant(1 - beta))]);
  const numbers = {
    clip: g.input([], 'clip'),
    rate: g.input([], 'rate'),
    decay: g.input([], 'decay'),
    firstScale: g.input([], 'first scale'),
    secondScale: g.input([], 'second scale'),
  };
  const before = {
    value: g.input(shape, 'value'),
    first: g.input(shape, 'first'),
    second: g.input(shape, 'second'),
  };
  const given = g.input(shape, 'gradient');
  const gradient = times(given, numbers.clip);
  const first = g.result(mean(before.first, gradient, BETA1));
  const second = g.result(mean(before.second, g.op('Square', [gradient]), BETA2));
  const root = g.op('Sqrt', [times(second, numbers.secondScale)]);
  const direction = g.op('Divide', [
    times(first, numbers.firstScale),
    g.op('Add', [root, g.constant(EPSILON)]),
  ]);
  const value = g.op('Subtract', [times(before.value, numbers.decay), times(direction, numbers.rate)]);
  return { g, gradient: given, numbers, before, after: { value, first, second } };
}

/** The numbers of step t, from 1, besides the clip; `make` brings each to where it is wanted. */
export function stepNumbers<T>(
  t: number,
  { learningRate, weightDecay }: { readonly learningRate: number; readonly weightDecay: number },
  make: (x: number) => T,
): Omit<StepNumbers<T>, 'clip'> {
  return {
    rate: make(learningRate),
    decay: make(1 - learningRate * weightDecay),
    firstScale: make(1 / (1 - BETA1 ** t)),
    secondScale: make(1 / (1 - BETA2 ** t)),
  };
}
