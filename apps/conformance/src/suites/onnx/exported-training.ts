import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tensor, TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { fromOnnx } from '@tilewise/graph/onnx';
import { createTrainer, type LabelledBatch, loadModel, type Model } from '@tilewise/nn';
import { folderFiles } from '@tilewise/nn/checkpoint';
import { loadOnnxModel } from '@tilewise/nn/onnx';
import type { Outcome } from '../../cases/case.ts';
import { compareAdamW, compareLora } from '../models/checks.ts';
import { difference, largest, within, worstOf } from '../models/compare.ts';
import { batchOf, type Expected, readExpected } from '../models/expected.ts';
import { weightsBeside } from './case-files.ts';
import { sameValues, transposed } from './weight-values.ts';

/** An exported model in its checkpoint's folder, and an engine to run it on. */
interface TrainingContext<T extends TensorDesc> {
  readonly folder: string;
  readonly engine: TensorEngine<T>;
  readonly expected: Expected;
  readonly imported: Model<T>;
}

/** A check of an exported model's training. */
interface TrainingCheck {
  /** Whether the folder has the data that the check compares with. */
  fits(folder: string, expected: Expected): boolean;
  run<T extends TensorDesc>(context: TrainingContext<T>): Promise<Outcome>;
}

/** The checks of an exported model's training, by name. */
const trainingChecks: Readonly<Record<string, TrainingCheck>> = {
  gradients: { fits: folder => existsSync(join(folder, 'config.json')), run: compareGradients },
  // A model that was exported without its token types does not compute what the stored losses belong to.
  adamw: {
    fits: (_, expected) => expected.has('adamw_losses') && !expected.has('token_type_ids'),
    run: context => compareAdamW(context, context.imported),
  },
  lora: {
    fits: (folder, expected) => expected.has('lora_losses') && existsSync(join(folder, 'lora-start')),
    run: context => compareLora(context, context.imported),
  },
};

/** The checks that apply to a folder, by name. */
export async function trainingChecksOf(
  folder: string,
): Promise<readonly (readonly [string, TrainingCheck])[]> {
  const expected = await readExpected(folder);
  return Object.entries(trainingChecks).filter(([, check]) => check.fits(folder, expected));
}

/** Runs a check on an exported model that is loaded for the check. */
export async function runTraining<T extends TensorDesc>(
  check: TrainingCheck,
  { model: file, folder }: { readonly model: string; readonly folder: string },
  engine: TensorEngine<T>,
): Promise<Outcome> {
  const expected = await readExpected(folder);
  const bytes = readFileSync(file);
  const parameters = expected.names.flatMap(name => (name.startsWith('grad.') ? [name.slice(5)] : []));
  const isCausal = expected.has('greedy');
  const externalData = weightsBeside(file);
  const imported = await loadOnnxModel(bytes, {
    ...{ engine, externalData },
    labels: isCausal ? 'next' : 'same',
    prefix: prefixOf(Object.keys((await fromOnnx(bytes, { externalData })).graph().weights), parameters),
  });
  try {
    return await check.run({ folder, engine, expected, imported });
  } finally {
    imported.release();
  }
}

/** The prefix that an exporter added to the names of parameters. */
function prefixOf(weights: readonly string[], parameters: readonly string[]): string {
  for (const weight of weights) {
    const parameter = parameters.find(name => weight.endsWith(`.${name}`));
    if (parameter !== undefined) return weight.slice(0, weight.length - parameter.length);
  }
  return '';
}

/**
 * Compares the gradients of all weights with those of the checkpoint, which the package runs by its own
 * definition of the architecture, because the exported model may lack an input, such as token types, that the
 * stored gradients depend on. A weight that the exporter renamed is found by its values.
 */
async function compareGradients<T extends TensorDesc>({
  folder,
  engine,
  expected,
  imported,
}: TrainingContext<T>): Promise<Outcome> {
  const given = batchOf(expected);
  const batch: LabelledBatch = { ...given, inputs: { ...given.inputs, tokenTypes: undefined } };
  const weightsOf = async (model: Model<T>): Promise<Map<string, TrainedWeight>> => {
    const trainer = createTrainer(model, { learningRate: 1e-3 });
    const { gradients } = await trainer.gradients(batch);
    const weights = new Map<string, TrainedWeight>();
    for (const [name, gradient] of gradients) {
      const weight = model.weights.get(name);
      if (!weight) throw new Error(`there is a gradient of '${name}', which is not a weight`);
      weights.set(name, {
        value: await engine.download(weight),
        gradient: (await engine.download(gradient)).toFloat32(),
      });
      engine.release(gradient);
    }
    trainer.release();
    return weights;
  };
  const published = await loadModel(folderFiles(folder), { engine });
  const wanted = await weightsOf(published);
  const got = await weightsOf(imported);
  // The same tolerance as for the models themselves: 1e-3 of the largest gradient, and the rounding of sums
  // that are mathematically 0.
  const floor = 1e-6 * Math.max(...[...wanted.values()].map(({ gradient }) => largest(gradient)));
  const errors: [name: string, error: number][] = [];
  for (const [name, { value, gradient }] of wanted) {
    const own =
      inOrderOf(value, got.get(name)) ?? onlyOne([...got.values()].map(one => inOrderOf(value, one)));
    const error = own ? difference(own, gradient) / (1e-3 * largest(gradient) + floor) : Infinity;
    errors.push([name, error]);
  }
  published.release();
  const worst = worstOf(errors);
  return within(worst.error, `the gradient of '${worst.what}'`);
}

interface TrainedWeight {
  readonly value: Tensor;
  readonly gradient: Float32Array;
}

/** The gradient of a weight, in the order of a parameter; null if the weight is not that parameter. */
function inOrderOf(parameter: Tensor, weight: TrainedWeight | undefined): Float32Array | null {
  if (!weight) return null;
  const isTurned = sameValues(weight.value, parameter);
  if (isTurned === null) return null;
  return isTurned ? transposed(weight.gradient, weight.value.shape) : weight.gradient;
}

/** The only element that is not null; null if there are none or several. */
function onlyOne<E>(elements: readonly (E | null)[]): E | null {
  const found = elements.filter(element => element !== null);
  return found.length === 1 ? found[0] : null;
}
