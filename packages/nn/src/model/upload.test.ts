import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { expect, test } from 'vitest';
import { filesOf, tinyLlama } from '../../testing/tiny-model.ts';
import { createModel, createTrainer, loadAdapter, loadModel, readModel, saveAdapter } from '../index.ts';

const lora = { rank: 2, alpha: 4, targets: ['q_proj'] };

/** An engine that fails at its third upload, and the tensors that it uploaded and did not release. */
function failingEngine() {
  const engine = cpuEngine({ threads: 1 });
  const held = new Set<Tensor>();
  const failing: TensorEngine<Tensor> = Object.assign(Object.create(engine), {
    upload(tensor: Tensor): Tensor {
      if (held.size === 2) throw new Error('no memory');
      const uploaded = Tensor.wrap(tensor.data.slice(), tensor);
      held.add(uploaded);
      return uploaded;
    },
    release: (tensor: Tensor): boolean => held.delete(tensor),
  });
  return { failing, held };
}

test.each<[string, (engine: TensorEngine<Tensor>) => unknown]>([
  ['a new model', async engine => createModel(readModel(tinyLlama), { engine })],
  ['a model', engine => loadModel(filesOf(tinyLlama), { engine })],
  [
    'an adapter',
    async engine => {
      const model = await loadModel(filesOf(tinyLlama), { engine: cpuEngine() });
      createTrainer(model, { learningRate: 1, lora });
      const files = Object.entries(await saveAdapter(model)).map(([name, bytes]) => [name, bytes] as const);
      const saved = new Map<string, Uint8Array>(files);
      const open = async (name: string) => saved.get(name) ?? null;
      return loadAdapter({ name: 'saved', open }, model.layers.linear, engine);
    },
  ],
  [
    'a new adapter',
    async engine => {
      const model = await loadModel(filesOf(tinyLlama), { engine: cpuEngine() });
      return createTrainer(Object.assign(model, { engine }), { learningRate: 1, lora });
    },
  ],
])('an upload that fails releases the tensors of %s that were uploaded before', async (_, call) => {
  const { failing, held } = failingEngine();
  await expect((async () => call(failing))()).rejects.toThrow('no memory');
  expect(held.size).toBe(0);
});

test('a signal ends the loading of a model, and releases the weights that were uploaded before', async () => {
  const { failing, held } = failingEngine();
  const stop = new AbortController();
  const { upload } = failing;
  failing.upload = tensor => {
    if (held.size === 1) stop.abort(new Error('enough'));
    return upload(tensor);
  };
  const { signal } = stop;
  await expect(loadModel(filesOf(tinyLlama), { engine: failing, signal })).rejects.toThrow('enough');
  expect(held.size).toBe(0);
  const wrong = loadModel(filesOf(tinyLlama), { engine: failing, signal: 5 as never });
  await expect(wrong).rejects.toThrow('signal must be an AbortSignal, got 5');
});
