import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { compile } from '@tilewise/graph/ops';
import { expect, test } from 'vitest';
import { tinyLlama } from '../../testing/tiny-model.ts';
import { readModel } from '../architectures/read-model.ts';
import { createModel } from '../create-model.ts';
import { mergeAdapter } from '../lora/merge-adapter.ts';
import { readLoraConfig } from '../lora/peft-files.ts';
import type { WeightDType } from '../model/weights.ts';
import { dropoutNumbers, dropoutPlaces, lossAndGradients } from './loss.ts';
import { initialLossScale, nextLossScale } from './loss-scale.ts';
import { cosineSchedule, linearSchedule } from './optimizer/schedules.ts';
import { createTrainer } from './trainer.ts';
import type { TrainerOptions } from './trainer-options.ts';
import { loadCheckpoint, saveCheckpoint } from './training-checkpoint.ts';

const engine = cpuEngine();
const definition = readModel(tinyLlama);
const create = (dtype: WeightDType = 'f32') => createModel(definition, { engine, dtype, deviation: 0.3 });
const row = (...tokens: number[]) => ({ inputs: { tokens: [tokens] }, labels: [tokens] });
const batch = row(1, 2, 3, 4, 5);

async function losses(options: TrainerOptions, count = 4, dtype: WeightDType = 'f32'): Promise<number[]> {
  const trainer = createTrainer(create(dtype), options);
  const all: number[] = [];
  for (let n = 0; n < count; n++) all.push((await trainer.step(batch)).loss);
  trainer.release();
  return all;
}

test('a step on several batches is a step on all of their labels at once', async () => {
  const parts = [row(1, 2, 3, 4, 5), row(6, 7, 8, 9, 10), row(3, 1, 4, 1, 5)];
  const together = {
    inputs: { tokens: parts.flatMap(({ inputs }) => inputs.tokens) },
    labels: parts.flatMap(({ labels }) => labels),
  };
  const [whole, split] = [together, parts].map(given => ({
    given,
    trainer: createTrainer(create(), { learningRate: 0.02, accuracy: true }),
  }));
  for (let n = 0; n < 3; n++) {
    const [a, b] = [await whole.trainer.step(whole.given), await split.trainer.step(split.given)];
    expect(b.loss).toBeCloseTo(a.loss, 5);
    expect(b.gradientNorm).toBeCloseTo(a.gradientNorm, 4);
    expect(b.accuracy).toBeCloseTo(a.accuracy ?? Number.NaN, 6);
  }
  const [a, b] = [await whole.trainer.snapshot(), await split.trainer.snapshot()];
  for (const [name, tensor] of a.tensors)
    for (const [n, x] of (b.tensors.get(name)?.toFloat32() ?? []).entries())
      expect(Math.abs(x - tensor.toFloat32()[n])).toBeLessThan(1e-3);
  expect(await split.trainer.evaluate(parts)).toMatchObject({
    loss: expect.closeTo((await whole.trainer.evaluate(together)).loss, 3),
  });
});

test.each(['f16', 'bf16'] as const)('steps on one or more batches may alternate in %s', async dtype => {
  const parts = [batch, row(6, 7, 8, 9, 10)];
  const [a, b] = ['alternating', 'accumulating'].map(() =>
    createTrainer(create(dtype), { learningRate: 0.02, lossScale: 1 }),
  );
  for (const given of [parts, batch, parts]) await a.step(given);
  // A batch twice has the mean gradient of the batch once.
  for (const given of [parts, [batch, batch], parts]) await b.step(given);
  expect((await a.evaluate(batch)).loss).toBeCloseTo((await b.evaluate(batch)).loss, 2);
  a.release();
  b.release();
});

test('SGD updates a parameter by its gradient, and with momentum by the sum of gradients', async () => {
  const model = create();
  const name = 'model.layers.0.self_attn.q_proj.weight';
  const options = { learningRate: 0.1, optimizer: { kind: 'sgd', momentum: 0.5, maxNorm: null } } as const;
  const trainer = createTrainer(model, options);
  let momentum = 0;
  for (let n = 0; n < 3; n++) {
    const before = model.weights.get(name)?.toFloat32()[3] ?? 0;
    const { gradients } = await trainer.gradients(batch);
    momentum = 0.5 * momentum + (gradients.get(name)?.toFloat32()[3] ?? 0);
    await trainer.step(batch);
    expect(model.weights.get(name)?.toFloat32()[3]).toBeCloseTo(before - 0.1 * momentum, 6);
  }
  expect([...(await trainer.snapshot()).tensors.keys()]).toContain(`sgd.momentum.${name}`);
  expect(() => createTrainer(model, { learningRate: 1, optimizer: { kind: 'sgd', nesterov: true } })).toThrow(
    'optimizer.nesterov',
  );
});

test('parameters of a group have their own rate and decay, and do not change with a rate of 0', async () => {
  const model = create();
  const before = new Map([...model.weights].map(([name, t]) => [name, t.toFloat32()]));
  const groups = [
    { names: /norm/, rate: 0 },
    { names: /embed/, rate: 0.1 },
  ];
  const trainer = createTrainer(model, { learningRate: 0.01, optimizer: { weightDecay: 0 }, groups });
  await trainer.step(batch);
  expect(trainer.trained.filter(name => name.includes('norm'))).toEqual([]);
  // The first step of AdamW is the learning rate, whatever the gradient.
  const moved = (name: string): number => {
    const [was, is] = [before.get(name) ?? [], model.weights.get(name)?.toFloat32() ?? []];
    return Math.max(...[...is].map((x, n) => Math.abs(x - was[n])));
  };
  expect(moved('model.norm.weight')).toBe(0);
  expect(moved('lm_head.weight')).toBeCloseTo(0.01, 4);
  expect(moved('model.embed_tokens.weight')).toBeCloseTo(0.001, 5);
  expect(() => createTrainer(model, { learningRate: 1, groups: [{ names: /./, rate: 0 }] })).toThrow(
    'groups',
  );
});

test.each(['f16', 'bf16'] as const)(
  'parameters of %s learn in f32: steps that are smaller than their rounding add up',
  async dtype => {
    const model = create(dtype);
    const name = 'lm_head.weight';
    const before = model.weights.get(name)?.toFloat32() ?? new Float32Array();
    const trainer = createTrainer(model, { learningRate: 1e-5, optimizer: { weightDecay: 0 } });
    for (let n = 0; n < 25; n++) await trainer.step(batch);
    expect(model.weights.get(name)?.dtype).toBe(dtype);
    const learned = (await trainer.snapshot()).tensors.get(name);
    expect(learned?.dtype).toBe('f32');
    const moved = Math.max(...[...(learned?.toFloat32() ?? [])].map((x, n) => Math.abs(x - before[n])));
    expect(moved).toBeGreaterThan(1.5e-4);
    expect(model.weights.get(name)?.toFloat32()).toEqual(learned?.cast(dtype).toFloat32());
  },
);

test('gradients that overflow f16 halve the scale of the loss and change nothing', async () => {
  const model = create('f16');
  const before = model.weights.get('lm_head.weight')?.toFloat32();
  const from = { ...(await createTrainer(model, { learningRate: 1 }).snapshot()) };
  const huge = createTrainer(model, {
    learningRate: 0.1,
    from: { ...from, lossScale: { value: 2 ** 24, steady: 5 } },
  });
  const { skipped, gradientNorm } = await huge.step(batch);
  expect([skipped, Number.isFinite(gradientNorm)]).toEqual([true, false]);
  expect(model.weights.get('lm_head.weight')?.toFloat32()).toEqual(before);
  expect((await huge.snapshot()).lossScale).toEqual({ value: 2 ** 23, steady: 0, skipped: 1 });
  let last = true;
  for (let n = 0; n < 16 && last; n++) last = (await huge.step(batch)).skipped;
  expect(last).toBe(false);
  expect(nextLossScale({ value: 8, steady: 1999 }, true)).toMatchObject({ value: 16, steady: 0 });
  expect(nextLossScale(initialLossScale, true)).toMatchObject({ ...initialLossScale, steady: 1 });
});

test('the optimizer does not count steps that overflow, even after the run is saved', async () => {
  const options = { learningRate: 0.01, optimizer: { weightDecay: 0 } };
  const from = { ...(await createTrainer(create('f16'), options).snapshot()) };
  let trainer = createTrainer(create('f16'), {
    ...options,
    from: { ...from, lossScale: { value: 2 ** 24, steady: 0 } },
  });
  const name = 'lm_head.weight';
  const before = (await trainer.snapshot()).tensors.get(name)?.toFloat32() ?? [];
  while ((await trainer.step(batch)).skipped) {
    const saved = await loadCheckpoint(await saveCheckpoint(trainer));
    trainer = createTrainer(create('f16'), { ...options, from: saved });
  }
  expect(trainer.steps).toBeGreaterThan(2);
  const after = (await trainer.snapshot()).tensors.get(name)?.toFloat32() ?? [];
  // The first step of AdamW is the learning rate, whatever the gradient.
  expect(Math.max(...Array.from(after, (x, n) => Math.abs(x - before[n])))).toBeCloseTo(0.01, 4);
});

test('a run with a fixed loss scale does not count steps that overflow, either', async () => {
  const options = { learningRate: 0.01, optimizer: { weightDecay: 0 } };
  const first = createTrainer(create('f16'), { ...options, lossScale: 2 ** 24 });
  for (let n = 0; n < 3; n++) expect((await first.step(batch)).skipped).toBe(true);
  const from = await loadCheckpoint(await saveCheckpoint(first));
  const second = createTrainer(create('f16'), { ...options, lossScale: 256, from });
  const name = 'lm_head.weight';
  const before = from.tensors.get(name)?.toFloat32() ?? [];
  expect((await second.step(batch)).skipped).toBe(false);
  const after = (await second.snapshot()).tensors.get(name)?.toFloat32() ?? [];
  // The first step of AdamW is the learning rate, whatever the gradient.
  expect(Math.max(...Array.from(after, (x, n) => Math.abs(x - before[n])))).toBeCloseTo(0.01, 4);
});

test('a saved run in f16 continues bit for bit, with its scale and metadata', async () => {
  const options = { learningRate: 0.01 };
  const whole = await losses(options, 6, 'f16');
  const first = createTrainer(create('f16'), options);
  for (let n = 0; n < 3; n++) await first.step(batch);
  const saved = await loadCheckpoint(await saveCheckpoint(first, { note: 'mine' }));
  expect(saved.metadata.note).toBe('mine');
  expect(saved.lossScale).toEqual((await first.snapshot()).lossScale);
  expect(saved.lossScale?.value).toBeLessThan(initialLossScale.value);
  const second = createTrainer(create('f16'), { ...options, from: saved });
  for (let n = 3; n < 6; n++) expect((await second.step(batch)).loss).toBe(whole[n]);
});

test('the state of a run without moments is refused by an optimizer that needs them', async () => {
  const trainer = createTrainer(create(), { learningRate: 0.1, optimizer: { kind: 'sgd' } });
  await trainer.step(batch);
  const from = await trainer.snapshot();
  expect(() => createTrainer(create(), { learningRate: 0.1, from })).toThrow(
    "from has no 'adamw.first.model.embed_tokens.weight' of shape [11,8]: it is the state of another run",
  );
});

test('blocks that are recomputed give the same losses', async () => {
  expect(await losses({ learningRate: 0.02, recomputation: true })).toEqual(
    await losses({ learningRate: 0.02 }),
  );
});

test('smoothed labels give the loss of their mixture, and its gradient', async () => {
  const model = create();
  const trainer = createTrainer(model, { learningRate: 0.01, labelSmoothing: 0.2 });
  const logits = (await model.logits(batch.inputs)).toFloat64();
  const V = 11;
  const terms = batch.inputs.tokens[0].slice(1).map((label, n) => {
    const own = [...logits.slice(n * V, (n + 1) * V)];
    const total = Math.log(own.reduce((sum, x) => sum + Math.exp(x), 0));
    const costs = own.map(x => total - x);
    return 0.8 * costs[label] + (0.2 / V) * costs.reduce((sum, x) => sum + x, 0);
  });
  const { loss } = await trainer.evaluate(batch);
  expect(loss).toBeCloseTo(terms.reduce((sum, x) => sum + x, 0) / terms.length, 5);
  const { gradients } = await trainer.gradients(batch);
  const weight = model.weights.get('lm_head.weight') as Tensor;
  const moved = async (by: number): Promise<number> => {
    const values = weight.toFloat64().map((x, n) => (n === 7 ? x + by : x));
    model.weights.set('lm_head.weight', Tensor.from(values, weight.shape));
    return (await trainer.evaluate(batch)).loss;
  };
  const slope = ((await moved(1e-2)) - (await moved(-1e-2))) / 2e-2;
  expect(gradients.get('lm_head.weight')?.toFloat64()[7]).toBeCloseTo(slope, 3);
});

test('schedules rise to their peak and fall to their end', () => {
  const linear = linearSchedule({ peak: 2, warmup: 4, steps: 10, fallsFrom: 8 });
  expect([0, 1, 3, 7, 8, 9, 10].map(linear)).toEqual([0.5, 1, 2, 2, 2, 1, 0]);
  const cosine = cosineSchedule({ peak: 1, steps: 4, end: 0.2 });
  expect([0, 2, 4, 9].map(n => Number(cosine(n).toFixed(6)))).toEqual([1, 0.6, 0.2, 0.2]);
  const rising = linearSchedule({ peak: 1, warmup: 2, steps: 6, end: 3 });
  expect([0, 1, 2, 4, 6].map(rising)).toEqual([0.5, 1, 1, 2, 3]);
  expect(() => linearSchedule({ peak: 1, fallsFrom: 5, steps: 4 })).toThrow('fallsFrom');
});

test('attention probabilities are distributions over the tokens that a token sees', async () => {
  const [layer, ...more] = await create().attentionProbabilities(batch.inputs);
  expect([layer.shape, more.length]).toEqual([[1, 2, 5, 5], 1]);
  for (let head = 0; head < 2; head++) {
    for (let i = 0; i < 5; i++) {
      const seen = Array.from({ length: 5 }, (_, j) => layer.get(0, head, i, j));
      expect(seen.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 5);
      expect(seen.slice(i + 1).every(p => p === 0)).toBe(true);
    }
  }
});

test('with ALiBi and dropout in attention, gradients are the slopes of the loss of the same draw', async () => {
  const base = definition.kind === 'causal' ? definition.decoder : null;
  if (!base) throw new Error('a Llama is causal');
  const attention = (layer: number) => ({ ...base.attention(layer), alibi: true, dropout: 0.4 });
  const model = createModel(
    { ...definition, kind: 'causal', decoder: { ...base, attention } },
    { engine, deviation: 0.3 },
  );
  const by = 'model.layers.0.self_attn.k_proj.weight';
  const targets = {
    labels: Tensor.from([2, 3, 4, 5, 6], [5], { dtype: 'i32' }),
    labelWeights: Tensor.from([0.2, 0.2, 0.2, 0.2, 0.2], [5]),
  };
  const inputs = { tokens: Tensor.from([1, 2, 3, 4, 5], [1, 5], { dtype: 'i32' }), ...targets };
  const specs = Object.fromEntries(
    Object.entries(inputs).map(([name, { shape, dtype }]) => [name, { shape, dtype }]),
  );
  const draw = dropoutNumbers(dropoutPlaces(model, specs), 3, 7);
  const scalars = Object.fromEntries(
    Object.keys(draw).map(name => [name, { shape: [], dtype: 'i64' as const }]),
  );
  const all = { ...specs, ...scalars, ...model.specs() };
  const pass = compile(engine, own => lossAndGradients(model, own, { by: [by] }), all);
  const lossWith = async (weight: Tensor): Promise<number> =>
    (await pass({ ...inputs, ...draw, ...model.bindings(), [by]: weight })).summary.toFloat64()[0];
  const weight = model.weights.get(by) as Tensor;
  const [gradient] = (await pass({ ...inputs, ...draw, ...model.bindings() })).gradients;
  for (const at of [0, 13, 27]) {
    const moved = (by: number): Tensor =>
      Tensor.from(
        weight.toFloat64().map((x, n) => (n === at ? x + by : x)),
        weight.shape,
      );
    const slope = ((await lossWith(moved(1e-2))) - (await lossWith(moved(-1e-2)))) / 2e-2;
    expect(gradient.toFloat64()[at]).toBeCloseTo(slope, 3);
  }
  const kinds = pass.graph.partitions().map(({ kind }) => kind);
  expect(kinds.filter(kind => kind.includes('sdpa'))).toHaveLength(4);
});

test('a merge that fails does not change the model', async () => {
  const lora = { rank: 2, alpha: 4, dropout: 0, targets: ['q_proj', 'down_proj'], rankStabilised: false };
  let left = Number.POSITIVE_INFINITY;
  const failing: typeof engine = {
    ...engine,
    primitives: {
      ...engine.primitives,
      allocate(desc) {
        if (desc.shape.length === 2 && left-- <= 0) throw new Error('no memory');
        return engine.primitives.allocate(desc);
      },
    },
  };
  const model = createModel(definition, { engine: failing, deviation: 0.3 });
  const trainer = createTrainer(model, { learningRate: 0.1, lora });
  for (let n = 0; n < 2; n++) await trainer.step(batch);
  const before = (await model.logits(batch.inputs)).toFloat32();
  left = 2;
  await expect(mergeAdapter(model)).rejects.toThrow('no memory');
  left = Number.POSITIVE_INFINITY;
  expect((await model.logits(batch.inputs)).toFloat32()).toEqual(before);
  expect(model.adapter).not.toBeNull();
});

test.each(['pissa', 'olora', 'corda'])('an adapter that %s initialised is refused by name', kind => {
  const json = { r: 2, lora_alpha: 4, target_modules: ['q_proj'], init_lora_weights: kind };
  expect(() => readLoraConfig(json)).toThrow(`init_lora_weights is "${kind}", which changes the weights`);
  expect(readLoraConfig({ ...json, init_lora_weights: 'gaussian' }).rank).toBe(2);
});
