import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { expect, test } from 'vitest';
import { filesOf, tinyLlama } from '../../testing/tiny-model.ts';
import { createModel, createTrainer, loadAdapter, loadModel, readModel, saveAdapter } from '../index.ts';

const lora = { rank: 2, alpha: 4, targets: ['q_proj'] };

/** An engine that holds up to `most` tensors, and the tensors that it has uploaded and not released. */
function failingEngine(most = 2) {
  const engine = cpuEngine({ threads: 1 });
  const held = new Set<Tensor>();
  const failing: TensorEngine<Tensor> = Object.assign(Object.create(engine), {
    upload(tensor: Tensor): Tensor {
      if (held.size >= most) throw new Error('no memory');
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

test.each<[string, object]>([
  ['whose parameters are all frozen', { groups: [{ names: /./, rate: 0 }] }],
  ['with the state of another run', { from: { steps: 0, tensors: new Map() } }],
])('a trainer %s is refused, and releases the adapter that was made for it', async (_, options) => {
  const model = await loadModel(filesOf(tinyLlama), { engine: cpuEngine() });
  const { failing, held } = failingEngine(Infinity);
  Object.assign(model, { engine: failing });
  expect(() => createTrainer(model, { learningRate: 1, lora, ...options })).toThrow();
  expect(held.size).toBe(0);
  expect(model.adapter).toBe(null);
});

test('a step that fails at one of its first uploads releases what it allocated', async () => {
  const batch = { inputs: { tokens: [[1, 2, 3]] }, labels: [[1, 2, 3]] };
  // The gradients, the parameters and the two moments of two groups take eight uploads.
  for (let most = 0; most < 10; most++) {
    const model = await loadModel(filesOf(tinyLlama), { engine: cpuEngine({ threads: 1 }) });
    const { failing, held } = failingEngine(most);
    Object.assign(model, { engine: failing });
    const trainer = createTrainer(model, { learningRate: 1, groups: [{ names: /norm/, weightDecay: 0 }] });
    const error = await trainer.step(batch).then(() => null, String);
    trainer.release();
    model.release();
    expect(error).toContain('Error: no memory');
    // Flat tensors have one dimension; the other tensors are constants of graphs.
    expect([...held].filter(({ shape }) => shape.length === 1)).toEqual([]);
  }
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
