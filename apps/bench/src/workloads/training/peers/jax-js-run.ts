import type { Tensor } from '@tilewise/core';
import { addIteratorHelpers } from '../../../peers/iterator-helpers.ts';
import { findPeer, importPeer } from '../../../peers/peer-module.ts';
import { startStopwatch } from '../../../timing/stopwatch.ts';
import type { TrainingCase } from '../training-case.ts';
import type { TrainingRun } from '../training-run.ts';
import type { ArrayLibrary } from './array-library.ts';
import {
  type AdamWState,
  adamwStep,
  gpt2Loss,
  inputValues,
  type StepInputs,
  stepNumbers,
  type Values,
  weightValues,
} from './gpt2-step.ts';

interface JaxArray {
  /** Another reference to the array: functions consume the references that they are given. */
  readonly ref: JaxArray;
  reshape(shape: readonly number[]): JaxArray;
  slice(...ranges: readonly (readonly [number, number] | readonly [])[]): JaxArray;
  data(): Promise<Float32Array>;
  dispose(): void;
}

type Binary = (a: JaxArray, b: JaxArray | number) => JaxArray;
type Unary = (x: JaxArray) => JaxArray;

/** The part of jax-js that the bench uses. */
interface Jax {
  init(device: string): Promise<readonly string[]>;
  defaultDevice(name: string): unknown;
  readonly numpy: Record<'add' | 'subtract' | 'multiply' | 'divide' | 'minimum' | 'matmul', Binary> &
    Record<'sqrt' | 'tanh' | 'sum', Unary> & {
      array(values: Float32Array): JaxArray;
      mean(x: JaxArray, axis: number, options: { readonly keepdims: boolean }): JaxArray;
      transpose(x: JaxArray, order: readonly number[]): JaxArray;
      zerosLike(x: JaxArray): JaxArray;
    };
  readonly nn: Record<'softmax' | 'logSoftmax', (x: JaxArray, axis: number) => JaxArray>;
  jit<A extends readonly unknown[], R>(f: (...args: A) => R): (...args: A) => R;
  valueAndGrad<A extends readonly unknown[]>(
    f: (weights: readonly JaxArray[], ...args: A) => JaxArray,
  ): (weights: readonly JaxArray[], ...args: A) => readonly [JaxArray, JaxArray[]];
}

/**
 * jax-js on WebAssembly or WebGPU, with a step compiled by its jit; null if the folder does not have jax-js.
 */
export async function jaxJsRun(
  folder: string,
  of: TrainingCase,
  given: ReadonlyMap<string, Tensor>,
  device: 'wasm' | 'webgpu' = 'wasm',
): Promise<TrainingRun | null> {
  const found = findPeer(folder, '@jax-js/jax');
  if (!found) return null;
  await addIteratorHelpers();
  const jax = await importPeer<Jax>(found, 'dist/index.js');
  const devices = await jax.init(device);
  if (!devices.includes(device)) throw new Error(`jax-js has ${devices.join(', ')}, and no ${device}`);
  jax.defaultDevice(device);
  const { numpy: np } = jax;
  const lib = arrayLibrary(jax);
  const array = ({ data, shape }: Values): JaxArray => np.array(data).reshape(shape);
  const values = weightValues(given);
  const names = [...values.keys()];
  const { tokens, targets, mask } = inputValues(of);
  const inputs: StepInputs<JaxArray> = { tokens: array(tokens), targets: array(targets), mask: array(mask) };
  const lossAndGradients = jax.valueAndGrad((weights, own: StepInputs<JaxArray>) => {
    const byName = new Map(weights.map((weight, n) => [names[n], weight]));
    return gpt2Loss(lib, of, name => byName.get(name) as JaxArray, own);
  });
  const step = jax.jit(
    (
      state: AdamWState<JaxArray>,
      own: StepInputs<JaxArray>,
      numbers: Record<'rate' | 'secondScale', JaxArray>,
    ) => {
      const [loss, gradients] = lossAndGradients(
        state.weights.map(({ ref }) => ref),
        { tokens: own.tokens.ref, targets: own.targets.ref, mask: own.mask.ref },
      );
      return { loss, state: adamwStep(lib, state, gradients, numbers) };
    },
  );
  const weights = [...values.values()].map(array);
  const zeros = (): JaxArray[] => weights.map(x => np.zerosLike(x.ref));
  let state: AdamWState<JaxArray> = { weights, first: zeros(), second: zeros() };
  let steps = 0;
  return {
    name: `jax-js ${found.version} (${device})`,
    async steps(count) {
      const stop = startStopwatch();
      let value = Number.NaN;
      for (let n = 0; n < count; n++) {
        const { rate, secondScale } = stepNumbers(++steps);
        const scalar = (x: number): JaxArray => np.array(Float32Array.of(x)).reshape([]);
        const numbers = { rate: scalar(rate), secondScale: scalar(secondScale) };
        const own = { tokens: inputs.tokens.ref, targets: inputs.targets.ref, mask: inputs.mask.ref };
        const { loss, state: next } = step(state, own, numbers);
        state = next;
        [value] = await loss.data();
      }
      return { loss: value, ...stop() };
    },
    close() {
      for (const x of [state.weights, state.first, state.second, Object.values(inputs)].flat()) x.dispose();
    },
  };
}

/** The functions of jax-js as the step calls them. They consume their arguments, so each gets a reference. */
function arrayLibrary({ numpy: np, nn }: Jax): ArrayLibrary<JaxArray> {
  const binary =
    (f: Binary) =>
    (a: JaxArray, b: JaxArray | number): JaxArray =>
      f(a.ref, typeof b === 'number' ? b : b.ref);
  const unary =
    (f: Unary): Unary =>
    x =>
      f(x.ref);
  const swapped = (x: JaxArray, rank: number): JaxArray =>
    np.transpose(x.ref, rank === 2 ? [1, 0] : [0, 1, 3, 2]);
  const rankOf = (x: JaxArray): number => (x as unknown as { readonly ndim: number }).ndim;
  return {
    matmul: (a, b, transposeB) => np.matmul(a.ref, transposeB ? swapped(b, rankOf(b)) : b.ref),
    ...{ add: binary(np.add), subtract: binary(np.subtract), multiply: binary(np.multiply) },
    ...{ divide: binary(np.divide), minimum: binary(np.minimum) },
    ...{ sqrt: unary(np.sqrt), tanh: unary(np.tanh), sum: unary(np.sum) },
    mean: x => np.mean(x.ref, -1, { keepdims: true }),
    softmax: x => nn.softmax(x.ref, -1),
    logSoftmax: x => nn.logSoftmax(x.ref, -1),
    reshape: (x, shape) => x.ref.reshape(shape),
    transpose: (x, order) => np.transpose(x.ref, order),
    slice: (x, start, size) => x.ref.slice([], [start, start + size]),
  };
}
