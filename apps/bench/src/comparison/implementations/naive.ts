import { Tensor } from '@tilewise/core';
import { naiveAttention } from '@tilewise/naive-attention';
import { bufferOf, emptyBuffer, readBuffer } from '../../gpu/buffers.ts';
import { copiesOf } from '../../workloads/attention/attention-case.ts';
import type { Implementation } from '../implementation.ts';

/** Attention the textbook way: three kernels forward and five backward, scores in memory. */
export function naive(device: GPUDevice): Implementation {
  return {
    name: 'naive, scores stored',
    note: '',
    async open(of) {
      const { shape, dtype, causal } = of;
      if (dtype !== 'f32') return 'f32 only';
      const [B, H, S, D] = shape;
      const made = await naiveAttention(device, { heads: B * H, S, D, causal }).catch(String);
      if (typeof made === 'string') return made;
      const { forward, backward } = made;
      const inputs = copiesOf(
        of,
        ({ q, k, v, dO }): Record<string, GPUBuffer> => ({
          ...{ q: bufferOf(device, q), k: bufferOf(device, k) },
          ...{ v: bufferOf(device, v), dO: bufferOf(device, dO) },
        }),
      );
      const results: Record<string, GPUBuffer> = {};
      for (const { name, bytes } of [...forward.tensors, ...backward.tensors]) {
        if (!(name in inputs[0])) results[name] ??= emptyBuffer(device, bytes);
      }
      const run = (passes: readonly (typeof forward)[], round: number): void => {
        const encoder = device.createCommandEncoder();
        const pass = encoder.beginComputePass();
        const buffers = { ...inputs[round % inputs.length], ...results };
        for (const one of passes) one.encode(pass, buffers);
        pass.end();
        device.queue.submit([encoder.finish()]);
      };
      const read = async (name: string): Promise<Tensor> => {
        const data = new Float32Array(await readBuffer(device, results[name], 4 * B * H * S * D));
        return Tensor.wrap(data, { dtype: 'f32', shape });
      };
      return {
        forward: async round => run([forward], round),
        async o() {
          run([forward], 0);
          return read('o');
        },
        training: async round => run([forward, backward], round),
        async gradients() {
          run([forward, backward], 0);
          return { dq: await read('dq'), dk: await read('dk'), dv: await read('dv') };
        },
        close() {
          for (const buffer of [results, ...inputs].flatMap(Object.values)) buffer.destroy();
        },
      };
    },
  };
}
