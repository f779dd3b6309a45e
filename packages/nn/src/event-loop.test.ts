import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { filesOf, tinyLlama } from '../testing/tiny-model.ts';
import { createTrainer, loadModel, train } from './index.ts';

// The CPU engine computes without waiting for anything, so only these calls let timers run.
const engine = cpuEngine({ threads: 1 });
const batch = { inputs: { tokens: [[1, 2, 3, 4]] }, labels: [[1, 2, 3, 4]] };

test('a signal with a time limit ends a text on the CPU', async () => {
  const model = await loadModel(filesOf(tinyLlama), { engine });
  const signal = AbortSignal.timeout(50);
  let tokens = 0;
  const text = async (): Promise<void> => {
    for await (const _ of model.generate([1, 2, 3], { maxNewTokens: 2000, signal })) tokens++;
  };
  await expect(text()).rejects.toThrow(expect.objectContaining({ name: 'TimeoutError' }));
  expect(tokens).toBeGreaterThan(0);
});

test('a signal with a time limit ends a run of training on the CPU', async () => {
  const trainer = createTrainer(await loadModel(filesOf(tinyLlama), { engine }), { learningRate: 0.01 });
  const signal = AbortSignal.timeout(50);
  const run = train(trainer, new Array(2000).fill(batch), { steps: 2000, signal });
  await expect(run).rejects.toThrow(expect.objectContaining({ name: 'TimeoutError' }));
});

test('timers run between the steps and evaluations of a loop', async () => {
  const trainer = createTrainer(await loadModel(filesOf(tinyLlama), { engine }), { learningRate: 0.01 });
  for (const call of [() => trainer.step(batch), () => trainer.evaluate(batch)]) {
    let isDone = false;
    setTimeout(() => {
      isDone = true;
    }, 1);
    for (let n = 0; n < 1000 && !isDone; n++) await call();
    expect(isDone).toBe(true);
  }
});
