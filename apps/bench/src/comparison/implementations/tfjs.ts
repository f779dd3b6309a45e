import { Tensor } from '@tilewise/core';
import { loopVariableNote } from '../../peers/peer-environment.ts';
import { peerIn, requirePeer } from '../../peers/peer-module.ts';
import { copiesOf } from '../../workloads/attention/attention-case.ts';
import type { Implementation } from '../implementation.ts';

interface TfTensor {
  data(): Promise<Float32Array>;
  dispose(): void;
}

/** The part of TensorFlow.js that the bench uses. */
interface Tf {
  setBackend(name: string): Promise<boolean>;
  ready(): Promise<void>;
  /** The WebGPU backend, which submits its commands in batches of fifteen. */
  backend(): { ensureCommandEncoderReady(): void; endComputePassEncoder(): void; submitQueue(): void };
  tensor(values: Float32Array, shape: readonly number[]): TfTensor;
  matMul(a: TfTensor, b: TfTensor, transposeA?: boolean, transposeB?: boolean): TfTensor;
  mul(a: TfTensor, b: TfTensor | number): TfTensor;
  add(a: TfTensor, b: TfTensor): TfTensor;
  sum(a: TfTensor): TfTensor;
  softmax(a: TfTensor): TfTensor;
  tidy<T>(f: () => T): T;
  grads(f: (...xs: TfTensor[]) => TfTensor): (xs: readonly TfTensor[]) => TfTensor[];
}

/**
 * TensorFlow.js: attention composed of its operators, gradients by its tape. The causal mask is a tensor that
 * is added.
 */
export async function tfjs(folder: string): Promise<Implementation> {
  const found = peerIn(folder, '@tensorflow/tfjs');
  // The union package registers the gradients.
  const tf = requirePeer<Tf>(found, '@tensorflow/tfjs');
  const provider = '@tensorflow/tfjs-backend-webgpu';
  requirePeer(peerIn(folder, provider), provider);
  if (!(await tf.setBackend('webgpu'))) throw new Error('TensorFlow.js does not accept this WebGPU device');
  await tf.ready();
  return {
    name: `TensorFlow.js ${found.version}`,
    note: loopVariableNote,
    async open(of) {
      const { shape, dtype, causal } = of;
      if (dtype !== 'f32') return 'f32 only';
      const [, , S, D] = shape;
      const tensor = (t: Tensor): TfTensor => tf.tensor(t.toFloat32(), shape);
      const inputs = copiesOf(of, ({ q, k, v, dO }) => [q, k, v, dO].map(tensor));
      const hidden = causal
        ? tf.tensor(
            Float32Array.from({ length: S * S }, (_, n) => (n % S > Math.floor(n / S) ? -1e9 : 0)),
            [S, S],
          )
        : null;
      const attention = (a: TfTensor, b: TfTensor, c: TfTensor): TfTensor => {
        const scores = tf.mul(tf.matMul(a, b, false, true), 1 / Math.sqrt(D));
        return tf.matMul(tf.softmax(hidden ? tf.add(scores, hidden) : scores), c);
      };
      const runForward = (round: number): TfTensor => {
        const [q, k, v] = inputs[round % inputs.length];
        return tf.tidy(() => attention(q, k, v));
      };
      const runTraining = (round: number): TfTensor[] => {
        const [q, k, v, dO] = inputs[round % inputs.length];
        const gradient = tf.grads((a, b, c) => tf.sum(tf.mul(attention(a, b, c), dO)));
        return tf.tidy(() => gradient([q, k, v]));
      };
      const host4 = async (t: TfTensor): Promise<Tensor> => {
        const values = await t.data();
        t.dispose();
        return Tensor.wrap(new Float32Array(values), { dtype: 'f32', shape });
      };
      const submit = (): void => {
        const backend = tf.backend();
        backend.ensureCommandEncoderReady();
        backend.endComputePassEncoder();
        backend.submitQueue();
      };
      return {
        async forward(round) {
          const y = runForward(round);
          submit();
          y.dispose();
        },
        o: () => host4(runForward(0)),
        async training(round) {
          const gradients = runTraining(round);
          submit();
          for (const g of gradients) g.dispose();
        },
        async gradients() {
          const [dq, dk, dv] = await Promise.all(runTraining(0).map(host4));
          return { dq, dk, dv };
        },
        close() {
          for (const one of [...inputs.flat(), ...(hidden ? [hidden] : [])]) one.dispose();
        },
      };
    },
  };
}
