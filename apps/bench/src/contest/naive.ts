import { Tensor } from '@tilewise/core';
import { naiveAttention } from '@tilewise/naive-attention';
import { bufferOf, emptyBuffer, readBuffer } from '../gpu/buffers.ts';
import type { Contestant } from './contestant.ts';

/** Attention the textbook way: three kernels forward and five backward, scores in memory. */
export function naive(device: GPUDevice): Contestant {
  return {
    name: 'naive, scores stored',
    note: '',
    async open({ shape, dtype, causal, ...host }) {
      if (dtype !== 'f32') return 'f32 only';
      const [B, H, S, D] = shape;
      const made = await naiveAttention(device, { heads: B * H, S, D, causal }).catch(String);
      if (typeof made === 'string') return made;
      const { forward, backward } = made;
      const buffers: Record<string, GPUBuffer> = {};
      for (const name of ['q', 'k', 'v', 'dO'] as const) buffers[name] = bufferOf(device, host[name]);
      for (const { name, bytes } of [...forward.tensors, ...backward.tensors]) {
        buffers[name] ??= emptyBuffer(device, bytes);
      }
      const run = (passes: readonly (typeof forward)[]): void => {
        const encoder = device.createCommandEncoder();
        const pass = encoder.beginComputePass();
        for (const one of passes) one.encode(pass, buffers);
        pass.end();
        device.queue.submit([encoder.finish()]);
      };
      const read = async (name: string): Promise<Tensor> => {
        const data = new Float32Array(await readBuffer(device, buffers[name], 4 * B * H * S * D));
        return Tensor.wrap(data, { dtype: 'f32', shape });
      };
      return {
        forward: async () => run([forward]),
        async o() {
          run([forward]);
          return read('o');
        },
        training: async () => run([forward, backward]),
        async gradients() {
          run([forward, backward]);
          return { dq: await read('dq'), dk: await read('dk'), dv: await read('dv') };
        },
        close() {
          for (const buffer of Object.values(buffers)) buffer.destroy();
        },
      };
    },
  };
}
