import { TilewiseError } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { test } from 'vitest';
import { filesOf, tinyLlama } from '../testing/tiny-model.ts';
import * as nn from './index.ts';

const engine = cpuEngine();
const model = await nn.loadModel(filesOf(tinyLlama), { engine });
const batch = { inputs: { tokens: [[1, 2, 3]] }, labels: [[1, 2, 3]] };
const lora = { rank: 2, alpha: 4, dropout: 0, targets: ['q_proj'], rankStabilised: false };
/** Passes a value that the types forbid, as JavaScript callers can. */
const any = (value: unknown): never => value as never;

/** Values of the wrong kind for most options, as a form on a page or a JSON file may hold. */
const strange = ['x', '', -1, 0, 1.5, 1e300, Number.NaN, true, null, [], [1], {}, () => 1, 1n, -1n];

test.each<[string, object, (options: never) => unknown]>([
  ['loadModel', { engine, dtype: 'f16', autocast: 'bf16' }, o => nn.loadModel(filesOf(tinyLlama), o)],
  ['createModel', { engine, seed: 1, deviation: 1 }, o => nn.createModel(model.definition, o)],
  [
    'generate',
    {
      maxNewTokens: 2,
      temperature: 1,
      topK: 2,
      topP: 0.5,
      minP: 0.1,
      repetitionPenalty: 1.1,
      seed: 3,
      stopTokens: [1],
    },
    async o => {
      for await (const _ of nn.generateBatch(model, [[1, 2]], o));
    },
  ],
  [
    'a step',
    {
      labelSmoothing: 0.1,
      recomputation: true,
      accuracy: true,
      lossScale: 'dynamic',
      seed: 1,
      groups: [],
      lora,
    },
    async o => {
      const own = await nn.loadModel(filesOf(tinyLlama), { engine });
      await nn.createTrainer(own, any({ learningRate: 0.01, ...(o as object) })).step(batch);
    },
  ],
  [
    'an optimizer',
    { betas: [0.9, 0.99], epsilon: 1e-8, weightDecay: 0.1, maxNorm: 1 },
    async o => {
      const own = await nn.loadModel(filesOf(tinyLlama), { engine });
      await nn.createTrainer(own, { learningRate: 0.01, optimizer: o }).step(batch);
    },
  ],
  ['a schedule', { peak: 1, warmup: 2, steps: 5, end: 0.1, fallsFrom: 3 }, o => nn.cosineSchedule(o)(1)],
  ['a batch', batch.inputs, o => model.logits(o)],
  ['labels', batch, o => nn.createTrainer(model, { learningRate: 0.01 }).evaluate(o)],
])('%s: each option with values of other kinds works, or is refused by name', async (_, options, call) => {
  for (const name of Object.keys(options)) {
    for (const value of strange) {
      const error = await Promise.resolve()
        .then(() => call(any({ ...options, [name]: value })))
        .catch((cause: unknown) => cause);
      if (error instanceof Error && !(error instanceof TilewiseError))
        throw new Error(`${name} = ${String(value)}: ${error.message}`, { cause: error });
    }
  }
});
