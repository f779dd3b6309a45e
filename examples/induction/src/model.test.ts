import { referenceEngine } from '@tilewise/core/reference';
import { PhiloxStream } from '@tilewise/philox';
import { expect, test } from 'vitest';
import { backward, createModel, forward, parametersOf } from './model.ts';
import { createBatch } from './task.ts';

const engine = referenceEngine();
const batch = createBatch(new PhiloxStream(1), 3, 2);
const dropout = { p: 0.2, seed: 4, offset: 100n };
const loss = async (model: ReturnType<typeof createModel>): Promise<number> =>
  (await forward(engine, model, batch, dropout)).score.loss;

test('every gradient agrees with finite differences along itself', async () => {
  const model = createModel(2, { heads: 2, headSize: 3 });
  await backward(engine, model, batch, await forward(engine, model, batch, dropout), dropout);
  for (const { name, value, gradient } of parametersOf(model)) {
    const norm = Math.hypot(...gradient);
    expect(norm, name).toBeGreaterThan(1e-3);
    const before = value.slice();
    const at = async (step: number): Promise<number> => {
      before.forEach((x, n) => {
        value[n] = x + (step * gradient[n]) / norm;
      });
      return loss(model);
    };
    // Activations are f32: their rounding moves the loss by some 1e-7, so that a step of 1e-2 leaves an error of 1e-5 in the
    // difference. The curvature cancels; the third derivative adds about 1e-4.
    const slope = ((await at(1e-2)) - (await at(-1e-2))) / 2e-2;
    value.set(before);
    expect(Math.abs(slope - norm), `${name}: ${slope} by differences, ${norm} by backward`).toBeLessThan(
      5e-4 + 2e-3 * norm,
    );
  }
});

test('gradients add up over passes', async () => {
  const model = createModel(2, { heads: 1, headSize: 4 });
  const run = async () => backward(engine, model, batch, await forward(engine, model, batch));
  await run();
  const [once] = parametersOf(model).map(({ gradient }) => gradient.slice());
  await run();
  expect(Math.abs(parametersOf(model)[0].gradient[3] - 2 * once[3])).toBeLessThan(1e-6);
});

test('equal seeds give equal parameters, different ones do not', () => {
  const values = (seed: number) => parametersOf(createModel(seed)).map(({ value }) => [...value.slice(0, 9)]);
  expect(values(5)).toEqual(values(5));
  expect(values(5)).not.toEqual(values(6));
  const [embedding, qkv] = values(5);
  expect(embedding.map(x => x / 2)).not.toEqual(qkv);
});
