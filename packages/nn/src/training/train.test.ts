import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { tinyLlama } from '../../testing/tiny-model.ts';
import { readModel } from '../architectures/read-model.ts';
import { createModel } from '../create-model.ts';
import { train } from './train.ts';
import { createTrainer } from './trainer.ts';

const engine = cpuEngine({ threads: 1 });
const create = () => createTrainer(createModel(readModel(tinyLlama), { engine }), { learningRate: 0.01 });
const rows = [[1, 2, 3, 4]];
const batch = { inputs: { tokens: rows }, labels: rows };
async function* endless() {
  for (;;) yield batch;
}

test('a run does its steps, evaluates between them and after the last, and takes several batches for a step', async () => {
  const events: string[] = [];
  let taken = 0;
  function* counted() {
    for (; taken < 100; taken++) yield batch;
  }
  const isDone = await train(create(), counted(), {
    ...{ steps: 5, accumulate: 2, evaluation: { batches: [batch], every: 2 } },
    onStep: ({ step }) => void events.push(`step ${step}`),
    onEvaluation: ({ steps, loss }) => void events.push(`after ${steps}: ${loss > 0}`),
  });
  expect([isDone, taken]).toEqual([true, 9]);
  const steps = ['step 0', 'step 1', 'after 2: true', 'step 2', 'step 3', 'after 4: true', 'step 4'];
  expect(events).toEqual([...steps, 'after 5: true']);
});

test('a signal ends a run before the next step, and the run can continue later', async () => {
  const [trainer, stop] = [create(), new AbortController()];
  const options = { steps: 4, signal: stop.signal, onStep: () => stop.abort(new Error('enough')) };
  await expect(train(trainer, endless(), options)).rejects.toThrow('enough');
  expect(trainer.steps).toBe(1);
  expect(await train(trainer, endless(), { steps: 4 })).toBe(true);
  expect(await train(trainer, [batch], { steps: 9 })).toBe(false);
  expect(trainer.steps).toBe(5);
  await expect(train(trainer, [batch], { steps: 0.5 })).rejects.toThrow('steps');
});
