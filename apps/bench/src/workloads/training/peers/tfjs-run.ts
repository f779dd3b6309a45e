import { join } from 'node:path';
import type { Tensor } from '@tilewise/core';
import { findPeer, requirePeer } from '../../../peers/peer-module.ts';
import { startStopwatch } from '../../../timing/stopwatch.ts';
import type { TrainingCase } from '../training-case.ts';
import type { TrainingRun } from '../training-run.ts';
import type { ArrayLibrary } from './array-library.ts';
import {
  type AdamWState,
  adamwStep,
  gpt2Loss,
  inputValues,
  stepNumbers,
  type Values,
  weightValues,
} from './gpt2-step.ts';

interface TfTensor {
  data(): Promise<Float32Array>;
  dispose(): void;
}

type Binary = (a: TfTensor, b: TfTensor | number) => TfTensor;
type Unary = (x: TfTensor) => TfTensor;

/** The part of TensorFlow.js that the bench uses. */
interface Tf
  extends Record<'add' | 'sub' | 'mul' | 'div' | 'minimum', Binary>,
    Record<'sqrt' | 'tanh', Unary> {
  setBackend(name: string): Promise<boolean>;
  ready(): Promise<void>;
  tensor(values: Float32Array, shape: readonly number[]): TfTensor;
  matMul(a: TfTensor, b: TfTensor, transposeA: boolean, transposeB: boolean): TfTensor;
  mean(x: TfTensor, axis: number, isKept: boolean): TfTensor;
  sum(x: TfTensor): TfTensor;
  softmax(x: TfTensor): TfTensor;
  logSoftmax(x: TfTensor): TfTensor;
  reshape(x: TfTensor, shape: readonly number[]): TfTensor;
  transpose(x: TfTensor, order: readonly number[]): TfTensor;
  split(x: TfTensor, sizes: readonly number[], axis: number): TfTensor[];
  zerosLike(x: TfTensor): TfTensor;
  tidy<T>(work: () => T): T;
  profile<T>(work: () => T): Promise<{ readonly result: T; readonly peakBytes: number }>;
  valueAndGrads(f: (...xs: TfTensor[]) => TfTensor): (xs: readonly TfTensor[]) => {
    readonly value: TfTensor;
    readonly grads: TfTensor[];
  };
}

interface WasmBackend {
  setWasmPaths(prefix: string): void;
  setThreadsCount(count: number): void;
}

/** The packages that TensorFlow.js runs on. */
export const tfjsPackages = (backend: 'wasm' | 'webgpu'): readonly string[] => [
  '@tensorflow/tfjs',
  `@tensorflow/tfjs-backend-${backend}`,
];

/**
 * TensorFlow.js on WebAssembly, with one thread, or on WebGPU; null if the folder lacks one of the packages.
 */
export async function tfjsRun(
  folder: string,
  of: TrainingCase,
  given: ReadonlyMap<string, Tensor>,
  backend: 'wasm' | 'webgpu' = 'wasm',
): Promise<TrainingRun | null> {
  const names = tfjsPackages(backend);
  const [found, provider] = names.map(name => findPeer(folder, name));
  if (!found || !provider) return null;
  const tf = requirePeer<Tf>(found, names[0]);
  const wasm = requirePeer<WasmBackend>(provider, names[1]);
  if (backend === 'wasm') {
    wasm.setWasmPaths(join(provider.root, 'dist/'));
    wasm.setThreadsCount(1);
  }
  if (!(await tf.setBackend(backend))) throw new Error(`TensorFlow.js cannot use its backend ${backend}`);
  await tf.ready();
  const lib: ArrayLibrary<TfTensor> = {
    matmul: (a, b, transposeB = false) => tf.matMul(a, b, false, transposeB),
    ...{ add: tf.add, subtract: tf.sub, multiply: tf.mul, divide: tf.div, minimum: tf.minimum },
    ...{ sqrt: tf.sqrt, tanh: tf.tanh, sum: x => tf.sum(x), softmax: x => tf.softmax(x) },
    ...{ logSoftmax: x => tf.logSoftmax(x), reshape: tf.reshape, transpose: tf.transpose },
    mean: x => tf.mean(x, -1, true),
    // The gradient of a slice is a padding, and that of a split is a concatenation, which is faster.
    slice: (x, start, size) => tf.split(x, [size, size, size], -1)[start / size],
  };
  const tensor = ({ data, shape }: Values): TfTensor => tf.tensor(data, shape);
  const values = weightValues(given);
  const weightNames = [...values.keys()];
  const { tokens, targets, mask } = inputValues(of);
  const inputs = { tokens: tensor(tokens), targets: tensor(targets), mask: tensor(mask) };
  const first = [...values.values()].map(tensor);
  let state: AdamWState<TfTensor> = {
    ...{ weights: first, first: first.map(x => tf.zerosLike(x)), second: first.map(x => tf.zerosLike(x)) },
  };
  const lossAndGradients = tf.valueAndGrads((...weights) => {
    const byName = new Map(weights.map((weight, n) => [weightNames[n], weight]));
    return gpt2Loss(lib, of, name => byName.get(name) as TfTensor, inputs);
  });
  let steps = 0;
  let most = 0;
  return {
    name: `TensorFlow.js ${found.version} (${backend})`,
    bytes: () => most,
    async steps(count) {
      const stop = startStopwatch();
      let loss = Number.NaN;
      for (let n = 0; n < count; n++) {
        steps++;
        const before = [state.weights, state.first, state.second].flat();
        const work = () =>
          tf.tidy(() => {
            const { value, grads } = lossAndGradients(state.weights);
            return { value, ...adamwStep(lib, state, grads, stepNumbers(steps)) };
          });
        // Counting takes time, so only the first step, which is not timed, is counted.
        const { result, peakBytes } =
          steps === 1 ? await tf.profile(work) : { result: work(), peakBytes: most };
        const { value, ...next } = result;
        most = peakBytes;
        for (const old of before) old.dispose();
        state = next;
        [loss] = await value.data();
        value.dispose();
      }
      return { loss, ...stop() };
    },
    close() {
      for (const x of [state.weights, state.first, state.second, Object.values(inputs)].flat()) x.dispose();
    },
  };
}
