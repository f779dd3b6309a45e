import type { Tensor } from '@tilewise/core';
import { addIteratorHelpers } from '../../peers/iterator-helpers.ts';
import { loopVariableNote } from '../../peers/peer-environment.ts';
import { importPeer, peerIn } from '../../peers/peer-module.ts';
import { copiesOf } from '../../workloads/attention/attention-case.ts';
import type { Gradients, Implementation } from '../implementation.ts';
import { fromTokens, swapHeads } from './head-order.ts';

interface JaxArray {
  /** Another reference to the array: functions consume the references that they are given. */
  readonly ref: JaxArray;
  reshape(shape: readonly number[]): JaxArray;
  mul(other: JaxArray): JaxArray;
  sum(): JaxArray;
  data(): Promise<Float32Array>;
  dispose(): void;
}

type JaxFunction<R> = (...args: readonly JaxArray[]) => R;

/** The part of jax-js that the bench uses. */
interface Jax {
  init(): Promise<readonly string[]>;
  defaultDevice(name: string): unknown;
  readonly numpy: { array(values: Float32Array): JaxArray };
  readonly nn: {
    dotProductAttention(q: JaxArray, k: JaxArray, v: JaxArray, options: { isCausal: boolean }): JaxArray;
  };
  jit<R>(f: JaxFunction<R>): JaxFunction<R>;
  grad(f: JaxFunction<JaxArray>, options: { argnums: readonly number[] }): JaxFunction<JaxArray[]>;
  blockUntilReady(tree: unknown): Promise<unknown>;
}

/** jax-js: attention composed of products and softmax, compiled by its jit, gradients by its autodiff. */
export async function jaxJs(folder: string): Promise<Implementation> {
  const found = peerIn(folder, '@jax-js/jax');
  await addIteratorHelpers();
  const jax = await importPeer<Jax>(found, 'dist/index.js');
  const devices = await jax.init();
  if (!devices.includes('webgpu'))
    throw new Error(`jax-js has the devices ${devices.join(', ')}, but not webgpu`);
  jax.defaultDevice('webgpu');
  return {
    name: `jax-js ${found.version}`,
    note: loopVariableNote,
    async open(of) {
      const { shape, dtype, causal } = of;
      if (dtype !== 'f32') return 'f32 only here';
      const [B, H, S, D] = shape;
      const array = (tensor: Tensor): JaxArray =>
        jax.numpy.array(swapHeads(tensor).toFloat32()).reshape([B, S, H, D]);
      const inputs = copiesOf(of, ({ q, k, v, dO }) => [q, k, v, dO].map(array));
      const attention = (a: JaxArray, b: JaxArray, c: JaxArray): JaxArray =>
        jax.nn.dotProductAttention(a, b, c, { isCausal: causal });
      const forward = jax.jit((a, b, c) => attention(a, b, c));
      const gradient = jax.jit(
        jax.grad((a, b, c, g) => attention(a, b, c).mul(g).sum(), { argnums: [0, 1, 2] }),
      );
      const runForward = (round: number): JaxArray => {
        const [q, k, v] = inputs[round % inputs.length];
        return forward(q.ref, k.ref, v.ref);
      };
      const runTraining = (round: number): JaxArray[] =>
        gradient(...inputs[round % inputs.length].map(({ ref }) => ref));
      return {
        async forward(round) {
          const y = runForward(round);
          await jax.blockUntilReady(y.ref);
          y.dispose();
        },
        o: async () => fromTokens(await runForward(0).data(), shape),
        async training(round) {
          const gradients = runTraining(round);
          await jax.blockUntilReady(gradients.map(g => g.ref));
          for (const g of gradients) g.dispose();
        },
        async gradients(): Promise<Gradients> {
          const [dq, dk, dv] = await Promise.all(
            runTraining(0).map(async g => fromTokens(await g.data(), shape)),
          );
          return { dq, dk, dv };
        },
        close() {
          for (const one of inputs.flat()) one.dispose();
        },
      };
    },
  };
}
