import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tensor, TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { fromOnnx, type OnnxModel } from '@tilewise/graph/onnx';
import { readSafetensors } from '@tilewise/nn';
import type { Outcome } from '../../cases/case.ts';
import { SetupError } from '../../suite.ts';
import { weightsBeside } from './case-files.ts';
import { onHost, worstGradient } from './exported-gradients.ts';
import { limits, relativeError } from './relative-error.ts';

/**
 * A model that an exporter wrote, the file with its expected results, and the checkpoint that it was exported
 * from.
 */
export interface ExportedModel {
  readonly name: string;
  readonly model: string;
  readonly expected: string;
  /** The safetensors files of the checkpoint; without them, gradients are not compared. */
  readonly checkpoint: readonly string[];
  /** The folder of the checkpoint; without it, training is not compared. */
  readonly folder?: string;
}

type Tensors = Readonly<Record<string, Tensor>>;

/** The subfolders that contain an `exported.onnx` and an `expected.safetensors`. */
export function exportedModels(root: string): ExportedModel[] {
  if (!existsSync(root)) throw new SetupError(`--models: there is no folder ${root}.`);
  const found = readdirSync(root).flatMap(name => {
    const [model, expected] = ['exported.onnx', 'expected.safetensors'].map(file => join(root, name, file));
    if (!existsSync(model) || !existsSync(expected)) return [];
    const files = readdirSync(join(root, name)).filter(file => /^model.*\.safetensors$/.test(file));
    const folder = join(root, name);
    return [{ name, model, expected, folder, checkpoint: files.map(file => join(folder, file)) }];
  });
  if (found.length === 0) throw new SetupError(`--models: no folder of ${root} has an exported.onnx.`);
  return found;
}

async function readTensors(file: string): Promise<Tensors> {
  const tensors: Record<string, Tensor> = {};
  for await (const [name, tensor] of readSafetensors(readFileSync(file), { file })) tensors[name] = tensor;
  return tensors;
}

/**
 * Runs an exported model and checks its logits, that each attention is one partition, and the gradients of
 * its weights if they are stored. The error is the worst one as a multiple of the allowed error.
 */
export async function runExported<T extends TensorDesc>(
  { model: file, expected: expectedFile, checkpoint }: ExportedModel,
  engine: TensorEngine<T>,
): Promise<Outcome> {
  const expected = await readTensors(expectedFile);
  const parameters: Record<string, Tensor> = Object.assign(
    {},
    ...(await Promise.all(checkpoint.map(readTensors))),
  );
  const model = await fromOnnx(readFileSync(file), { externalData: weightsBeside(file) });
  const feeds = inputsOf(model, expected);
  const fail = (reason: string, error: number | null = null): Outcome => ({ status: 'fail', error, reason });
  const [logitsName] = model.outputs;
  const wanted = expected.exported_logits ?? expected.logits;
  if (!wanted) return fail('there are no logits to compare with');
  try {
    const results = await model.run(engine, feeds);
    const logits = await onHost(engine, results[logitsName]);
    const logitsError = relativeError(logits.toFloat64(), wanted.toFloat64()) / limits.logits;
    if (!(logitsError <= 1)) return fail('the logits differ', logitsError);
    const made = model.graph({ values: feeds });
    const attention = made.graph.partitions().filter(({ kind }) => kind.includes('sdpa')).length;
    // A softmax in single operations has its own exponential.
    const softmaxes = made.graph.nodes.filter(({ kind }) => ['SoftMax', 'Sdpa', 'Exp'].includes(kind)).length;
    if (attention !== softmaxes) return fail(`${attention} of ${softmaxes} attentions are flash partitions`);
    // A model that was exported without one of its inputs computes something else, so no gradients of it are
    // stored.
    const whole =
      expected.logits && relativeError(wanted.toFloat64(), expected.logits.toFloat64()) <= limits.gradient;
    const without = (reason: string): Outcome => ({ status: 'pass', error: logitsError, reason });
    if (!whole) return without('no gradients are stored for the exported model');
    if (checkpoint.length === 0) return without('gradients are compared only beside a checkpoint');
    const [worst, name] = await worstGradient(
      made,
      logitsName,
      { feeds, logits, expected, parameters },
      engine,
    );
    if (!(worst <= 1)) return fail(`the gradient of ${name} differs`, worst);
    return { status: 'pass', error: Math.max(logitsError, worst), reason: null };
  } finally {
    model.release();
  }
}

function inputsOf(model: OnnxModel, expected: Tensors): Record<string, Tensor> {
  return Object.fromEntries(
    model.inputs.map(({ name }) => {
      if (!expected[name]) throw new SetupError(`there is no input '${name}' in the expected tensors.`);
      return [name, expected[name]];
    }),
  );
}
