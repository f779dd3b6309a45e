import type { Tensor } from '@tilewise/core';
import { createContext, webgpuEngine } from '@tilewise/webgpu';
import { countWork, openGpu } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { readModel } from '../architectures/read-model.ts';
import { createModel } from '../create-model.ts';
import type { LoadOptions } from '../model/model.ts';
import { generate } from './generate.ts';

/** `GPUBufferUsage.MAP_READ`, which Node does not define. */
const MAP_READ = 1;

const configOf = {
  gpt2: (layers: number) => ({
    ...{ model_type: 'gpt2', vocab_size: 26, n_embd: 32, n_head: 4, n_layer: layers, n_positions: 24 },
  }),
  llama: (layers: number) => ({
    ...{ model_type: 'llama', vocab_size: 26, hidden_size: 32, intermediate_size: 64 },
    ...{ num_hidden_layers: layers, num_attention_heads: 4, num_key_value_heads: 2 },
    max_position_embeddings: 24,
  }),
};

/**
 * Makes a device read zeros back. Dawn's null backend computes nothing, so it reads back what happens to be
 * in memory, such as NaN, of which no token can be chosen.
 */
function readZeros(device: GPUDevice): void {
  const create = device.createBuffer.bind(device);
  device.createBuffer = descriptor => {
    const buffer = create(descriptor);
    const isRead = (descriptor.usage & MAP_READ) !== 0;
    if (isRead) buffer.getMappedRange = (offset = 0, size = buffer.size - offset) => new ArrayBuffer(size);
    return buffer;
  };
}

/**
 * The dispatches of a token on Dawn's null backend, once the steps of a token are joined: the kernels for
 * that are compiled in the background.
 */
async function dispatchesPerToken(
  config: Readonly<Record<string, unknown>>,
  precision: Pick<LoadOptions<Tensor>, 'dtype' | 'autocast'>,
): Promise<number> {
  const { adapter } = await openGpu({ backend: 'null' });
  const device = await adapter.requestDevice();
  readZeros(device);
  const ctx = await createContext({ device });
  const model = createModel(readModel(config), { engine: webgpuEngine(ctx), ...precision });
  const work = countWork(device);
  try {
    for (let text = 0; text < 100; text++) {
      const counts: number[] = [];
      for await (const _ of generate(model, [1, 2, 3], { maxNewTokens: 20 })) {
        await ctx.submitted();
        counts.push(work.dispatches);
        if (counts.length > 2 && work.dispatches < counts[1]) return work.dispatches;
        work.dispatches = 0;
        await new Promise(resolve => setTimeout(resolve, 5));
      }
    }
    throw new Error('the steps of a token were not joined');
  } finally {
    ctx.destroy();
  }
}

const precisions = [{}, { dtype: 'f16' }, { dtype: 'f16', autocast: 'f16' }] as const;

test.each([
  ['gpt2', 8],
  ['llama', 10],
] as const)('a token takes a layer of %s at most %i dispatches, in f32 and f16', async (name, most) => {
  for (const precision of precisions) {
    const [two, three] = [
      await dispatchesPerToken(configOf[name](2), precision),
      await dispatchesPerToken(configOf[name](3), precision),
    ];
    expect(three - two).toBeLessThanOrEqual(most);
  }
});
