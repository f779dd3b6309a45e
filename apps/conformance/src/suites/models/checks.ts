import { join } from 'node:path';
import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { createTrainer, generate, loadAdapter, loadModel, type Model, type WeightDType } from '@tilewise/nn';
import { folderFiles } from '@tilewise/nn/checkpoint';
import type { Outcome } from '../../cases/case.ts';
import { difference, largest, logitsError, within, worstOf } from './compare.ts';
import { batchOf, type Expected, rowsOf } from './expected.ts';

/** A model folder, and the engine to run the model on. */
export interface CheckContext<T extends TensorDesc> {
  readonly folder: string;
  readonly engine: TensorEngine<T>;
  readonly dtype: WeightDType;
  readonly expected: Expected;
}

/** A check of a model, and the tensors that it compares with. */
export interface Check {
  readonly needs: readonly string[];
  /** Whether the check also applies to 16-bit weights. */
  readonly rounded?: boolean;
  run<T extends TensorDesc>(context: CheckContext<T>): Promise<Outcome>;
}

/** Runs a function on a model that is loaded for it. */
async function withModel<T extends TensorDesc, R>(
  { folder, engine, dtype }: CheckContext<T>,
  use: (model: Model<T>) => Promise<R>,
): Promise<R> {
  const model = await loadModel(folderFiles(folder), { engine, dtype });
  try {
    return await use(model);
  } finally {
    model.release();
  }
}

const mask = (expected: Expected) =>
  expected.has('attention_mask') ? expected.tensor('attention_mask') : null;
const LOGITS = 1e-4;
/** The tolerance for weights rounded to 8 or 11 bits, as a share of the largest logit. */
const ROUNDED_LOGITS = 2e-2;
const LOSS = 1e-5;
const GRADIENTS = 1e-3;
/**
 * The tolerance as a share of the largest of all gradients. Some gradients are mathematically 0, such as that
 * of a key bias, which softmax cancels; their computed values are the f32 rounding of sums of numbers as
 * large as other gradients.
 */
const GRADIENT_ROUNDING = 1e-6;
const LOSSES = 1e-4;
const STEPS = 6;

const loraOptimizer = { weightDecay: 0, maxNorm: null };

/** Every check, by name. */
export const checks: Readonly<Record<string, Check>> = {
  logits: {
    needs: ['logits'],
    rounded: true,
    run: context =>
      withModel(context, async model => {
        const { expected, dtype } = context;
        const got = await model.logits(batchOf(expected).inputs);
        const gate = dtype === 'f32' ? LOGITS : ROUNDED_LOGITS;
        return within(logitsError(got, expected.tensor('logits'), mask(expected), gate), 'the worst logit');
      }),
  },
  loss: {
    needs: ['loss'],
    run: context =>
      withModel(context, async model => {
        const trainer = createTrainer(model, { learningRate: 1e-3 });
        const { loss } = await trainer.evaluate(batchOf(context.expected));
        trainer.release();
        return within(difference([loss], context.expected.tensor('loss').toFloat32()) / LOSS, 'the loss');
      }),
  },
  gradients: {
    needs: ['loss'],
    run: context => withModel(context, model => compareGradients(context, model)),
  },
  adamw: {
    needs: ['adamw_losses'],
    run: context => withModel(context, model => compareAdamW(context, model)),
  },
  greedy: {
    needs: ['prompt', 'greedy'],
    run: context =>
      withModel(context, async model => {
        const [prompt] = rowsOf(context.expected.tensor('prompt'));
        const [wanted] = rowsOf(context.expected.tensor('greedy'));
        const text = [...prompt];
        for await (const token of generate(model, prompt, { maxNewTokens: wanted.length - prompt.length }))
          text.push(token);
        const at = wanted.findIndex((token, n) => token !== text[n]);
        return {
          status: at < 0 ? 'pass' : 'fail',
          error: null,
          reason: at < 0 ? null : `token ${at} is ${text[at]}, not ${wanted[at]}`,
        };
      }),
  },
  'lora-logits': {
    needs: ['lora_logits'],
    run: context =>
      withModel(context, async model => {
        const { expected, folder, engine } = context;
        model.adapter = await loadAdapter(folderFiles(join(folder, 'lora-end')), model.layers.linear, engine);
        const got = await model.logits(batchOf(expected).inputs);
        return within(
          logitsError(got, expected.tensor('lora_logits'), mask(expected), LOGITS),
          'the worst logit',
        );
      }),
  },
  lora: {
    needs: ['lora_losses', 'lora_logits'],
    run: context => withModel(context, model => compareLora(context, model)),
  },
};

/** Trains all weights of a model and returns the losses. */
export async function compareAdamW<T extends TensorDesc>(
  { expected }: Pick<CheckContext<T>, 'expected'>,
  model: Model<T>,
): Promise<Outcome> {
  const trainer = createTrainer(model, { learningRate: 1e-3 });
  const losses: number[] = [];
  for (let n = 0; n < STEPS; n++) losses.push((await trainer.step(batchOf(expected))).loss);
  trainer.release();
  return within(difference(losses, expected.tensor('adamw_losses').toFloat32()) / LOSSES, 'the worst loss');
}

async function compareGradients<T extends TensorDesc>(
  { engine, expected }: CheckContext<T>,
  model: Model<T>,
): Promise<Outcome> {
  const trainer = createTrainer(model, { learningRate: 1e-3 });
  const { gradients } = await trainer.gradients(batchOf(expected));
  const wanted = new Map<string, Float32Array>();
  for (const name of expected.names) {
    if (!name.startsWith('grad.')) continue;
    const own = model.definition.canonical(name.slice('grad.'.length));
    if (own !== null) wanted.set(own, expected.tensor(name).toFloat32());
  }
  const floor = GRADIENT_ROUNDING * Math.max(...[...wanted.values()].map(values => largest(values)));
  const errors: [name: string, error: number][] = [];
  for (const [name, values] of wanted) {
    const gradient = gradients.get(name);
    const got = gradient ? (await engine.download(gradient)).toFloat32() : [];
    errors.push([name, difference(got, values) / (GRADIENTS * largest(values) + floor)]);
  }
  const missing = trainer.trained.find(name => !wanted.has(name));
  for (const gradient of gradients.values()) engine.release(gradient);
  trainer.release();
  if (missing !== undefined)
    return { status: 'fail', error: null, reason: `no gradient of '${missing}' is expected` };
  const worst = worstOf(errors);
  return within(worst.error, `the gradient of '${worst.what}'`);
}

/**
 * Trains an adapter from `lora-start`; returns its losses, its logits, and how far its elements are from
 * those of `lora-end`.
 */
export async function compareLora<T extends TensorDesc>(
  { folder, engine, expected }: Omit<CheckContext<T>, 'dtype'>,
  model: Model<T>,
): Promise<Outcome> {
  const batch = batchOf(expected);
  const open = (name: string) => loadAdapter(folderFiles(join(folder, name)), model.layers.linear, engine);
  model.adapter = await open('lora-start');
  const trainer = createTrainer(model, {
    learningRate: 5e-3,
    lora: model.adapter.config,
    optimizer: loraOptimizer,
  });
  const losses: number[] = [];
  for (let n = 0; n < STEPS; n++) losses.push((await trainer.step(batch)).loss);
  const lossError = difference(losses, expected.tensor('lora_losses').toFloat32()) / LOSSES;
  const logits = await model.logits(batch.inputs);
  const logitError = logitsError(logits, expected.tensor('lora_logits'), mask(expected), 1e-3);
  const distances: number[] = [];
  const end = await open('lora-end');
  for (const [name, tensor] of Object.entries(end.tensors)) {
    const wanted = (await engine.download(tensor)).toFloat32();
    const got = (await engine.download(model.adapter.tensors[name])).toFloat32();
    wanted.forEach((x, n) => {
      distances.push(Math.abs(x - got[n]));
    });
  }
  trainer.release();
  const far = distances.filter(distance => !(distance <= 1e-3)).length;
  const elementError = Math.max(far / (1e-3 * distances.length), largest(distances) / 3e-2);
  const errors = {
    'the worst loss': lossError,
    'the worst logit': logitError,
    'the worst element': elementError,
  };
  const { what, error } = worstOf(Object.entries(errors));
  return within(error, what);
}
