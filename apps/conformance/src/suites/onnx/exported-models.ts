import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { gradients } from '@tilewise/graph';
import { fromOnnx, type OnnxGraph, type OnnxModel } from '@tilewise/graph/onnx';
import { readSafetensors } from '@tilewise/nn';
import type { Outcome } from '../../cases/case.ts';
import { SetupError } from '../../suite.ts';
import { weightsBeside } from './case-files.ts';

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
 * The largest difference of a result relative to the largest expected number, or to `least` if that is
 * larger.
 */
function relativeError(got: ArrayLike<number>, expected: ArrayLike<number>, least = 0): number {
  let [worst, largest] = [0, least];
  for (let n = 0; n < expected.length; n++) {
    largest = Math.max(largest, Math.abs(expected[n]));
    const difference = Math.abs(expected[n] - got[n]);
    worst = Number.isNaN(difference) ? Infinity : Math.max(worst, difference);
  }
  return largest === 0 ? worst : worst / largest;
}

/** Logits within 1e-4, and every weight gradient within 1e-3, of the largest number. */
const limits = { logits: 1e-4, gradient: 1e-3 } as const;

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

async function onHost<T extends TensorDesc>(engine: TensorEngine<T>, tensor: T): Promise<Tensor> {
  return tensor instanceof Tensor ? tensor : await engine.download(tensor);
}

function inputsOf(model: OnnxModel, expected: Tensors): Record<string, Tensor> {
  return Object.fromEntries(
    model.inputs.map(({ name }) => {
      if (!expected[name]) throw new SetupError(`there is no input '${name}' in the expected tensors.`);
      return [name, expected[name]];
    }),
  );
}

/**
 * ∂ loss / ∂ logits of the mean cross-entropy over the labels that count; causal models predict the next
 * token.
 */
function logitsGradient(logits: Tensor, labels: Tensor): Tensor {
  const values = logits.toFloat64();
  const classes = logits.shape.at(-1) ?? 1;
  const [B = 1, S = 1] = labels.shape.length === 2 ? labels.shape : [labels.shape[0], 1];
  const given = labels.toFloat64();
  const ids = labels.shape.length === 2 ? logits.shape[1] : 1;
  return Tensor.from(crossEntropyGradient(values, given, { B, S, classes, ids }), logits.shape);
}

function crossEntropyGradient(
  values: Float64Array,
  labels: Float64Array,
  { B, S, classes, ids }: { B: number; S: number; classes: number; ids: number },
): Float64Array {
  const gradient = new Float64Array(values.length);
  const count = labels.reduce((n, label) => (label >= 0 ? n + 1 : n), 0);
  for (let row = 0; row < B * ids; row++) {
    const label = labels[Math.floor(row / ids) * S + (row % ids)];
    if (!(label >= 0)) continue;
    const logits = values.subarray(row * classes, (row + 1) * classes);
    const most = logits.reduce((m, x) => Math.max(m, x), -Infinity);
    const sum = logits.reduce((total, x) => total + Math.exp(x - most), 0);
    for (let c = 0; c < classes; c++)
      gradient[row * classes + c] = (Math.exp(logits[c] - most) / sum - (c === label ? 1 : 0)) / count;
  }
  return gradient;
}

/** Shifts labels by one, because the logits of a token predict the token after it. */
function shifted(labels: Tensor): Tensor {
  const [B, S] = labels.shape;
  const values = labels.toFloat64();
  const moved = Float64Array.from(values, (_, n) => (n % S === S - 1 ? -100 : values[n + 1]));
  return Tensor.from(moved, [B, S], { dtype: 'i32' });
}

interface RunOfModel {
  readonly feeds: Tensors;
  readonly logits: Tensor;
  readonly expected: Tensors;
  readonly parameters: Tensors;
}

/**
 * The worst parameter gradient, as a multiple of the allowed error, and the parameter's name. An exporter
 * renames weights, transposes matrices and splits tied weights, so weights without a parameter's name are
 * found by their values, and their gradients are added up.
 */
async function worstGradient<T extends TensorDesc>(
  { graph, inputs, outputs, weights, bindings: held }: OnnxGraph,
  logitsName: string,
  { feeds, logits, expected, parameters }: RunOfModel,
  engine: TensorEngine<T>,
): Promise<[error: number, name: string]> {
  const { labels } = expected;
  if (!labels) return [0, ''];
  const backward = gradients(graph, {
    of: outputs[logitsName],
    withRespectTo: Object.values(weights).map(({ tensor }) => tensor),
  });
  const isCausal = expected.greedy !== undefined;
  const seed = backward.seeds.get(outputs[logitsName].id);
  const bindings: Record<number, Tensor> = { ...held };
  for (const [name, { id }] of Object.entries(inputs)) bindings[id] = feeds[name];
  const forward = await graph.run(engine, bindings);
  for (const [id, tensor] of Object.entries(forward)) bindings[Number(id)] = await onHost(engine, tensor);
  if (seed) bindings[seed.id] = logitsGradient(logits, isCausal ? shifted(labels) : labels);
  const read = new Set(backward.finalize().inputs.map(({ id }) => id));
  const bound = Object.fromEntries(Object.entries(bindings).filter(([id]) => read.has(Number(id))));
  const results = await backward.run(engine, bound);
  const own = await Promise.all(
    Object.entries(weights).map(async ([name, { tensor, value }]) => {
      const gradient = backward.gradients.get(tensor.id);
      const values = gradient && (await onHost(engine, results[gradient.id])).toFloat64();
      const parameter = Object.keys(parameters).find(one => name === one || name.endsWith(`.${one}`));
      return { value, values: values ?? new Float64Array(value.size), parameter };
    }),
  );
  // A gradient may be 0 except for rounding, such as that of the key bias, which shifts all scores of a row
  // alike. It is a sum of terms that cancel, so the remainder is a few units of 2^-24 of the terms, which are
  // as large as other gradients.
  const sizes = Object.entries(expected).flatMap(([name, t]) =>
    name.startsWith('grad.') ? [largestOf(t)] : [],
  );
  const least = 2 ** -20 * Math.max(0, ...sizes);
  let [worst, where] = [0, ''];
  for (const [name, parameter] of Object.entries(parameters)) {
    const wanted = expected[`grad.${name}`];
    if (!wanted) continue;
    const sum = new Float64Array(wanted.size);
    let found = 0;
    for (const { value, values, parameter: known = name } of own) {
      const turned = known === name ? sameValues(value, parameter) : null;
      if (turned === null) continue;
      found += 1;
      const gradient = turned ? transposed(values, value.shape) : values;
      for (let n = 0; n < sum.length; n++) sum[n] += gradient[n];
    }
    const error = found === 0 ? Infinity : relativeError(sum, wanted.toFloat64(), least / limits.gradient);
    if (error > worst) [worst, where] = [error, name];
  }
  return [worst / limits.gradient, where];
}

const largestOf = (tensor: Tensor): number =>
  tensor.toFloat64().reduce((most, x) => Math.max(most, Math.abs(x)), 0);

/**
 * True if a weight is the parameter transposed, false if it is the parameter itself, null if it is another.
 */
export function sameValues(weight: Tensor, parameter: Tensor): boolean | null {
  if (weight.size !== parameter.size) return null;
  const [a, b] = [weight.toFloat64(), parameter.toFloat64()];
  if (a.every((x, n) => x === b[n])) return false;
  if (weight.shape.length !== 2) return null;
  return transposed(a, weight.shape).every((x, n) => x === b[n]) ? true : null;
}

/** The values of a matrix of this shape, transposed. */
export function transposed<V extends Float32Array | Float64Array>(
  values: V,
  [rows, columns = 1]: readonly number[],
): V {
  return values.map((_, n) => values[(n % rows) * columns + Math.floor(n / rows)]) as V;
}
