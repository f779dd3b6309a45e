import { Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { gradients } from '@tilewise/graph';
import type { OnnxGraph } from '@tilewise/graph/onnx';
import { logitsGradient, shifted } from './logits-gradient.ts';
import { limits, relativeError } from './relative-error.ts';
import { sameValues, transposed } from './weight-values.ts';

type Tensors = Readonly<Record<string, Tensor>>;

/** A tensor of an engine, on the host. */
export async function onHost<T extends TensorDesc>(engine: TensorEngine<T>, tensor: T): Promise<Tensor> {
  return tensor instanceof Tensor ? tensor : await engine.download(tensor);
}

/** The forward run of a model, and what its gradients are compared with. */
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
export async function worstGradient<T extends TensorDesc>(
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
