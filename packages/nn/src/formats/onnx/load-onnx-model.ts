import { InvalidArgumentError, type Tensor, type TensorDesc } from '@tilewise/core';
import { type FromOnnxOptions, fromOnnx, type OnnxGraph, type OnnxModel } from '@tilewise/graph/onnx';
import { callGraph, constant, type Operand, transpose, type Variable } from '@tilewise/graph/ops';
import type { ModelDefinition, TraceLogits } from '../../architectures/architecture.ts';
import { inDType, type LinearShape, type Scope, withAdapter } from '../../architectures/transformer/scope.ts';
import { checkFields, type FieldRules } from '../../checks/check-fields.ts';
import { anything, callback, oneOf, required, text } from '../../checks/rules.ts';
import { type LoadOptions, loadRules, Model } from '../../model/model.ts';
import { uploadAll } from '../../model/upload.ts';
import { linearLayers } from './linear-layers.ts';
import { onnxInputs } from './onnx-inputs.ts';
import { tiedWeights } from './tied-weights.ts';

/** How an ONNX model is loaded. */
export interface LoadOnnxOptions<T extends TensorDesc> extends LoadOptions<T>, FromOnnxOptions {
  /**
   * The labels of a batch: `next`, the tokens themselves, each of which is predicted from those before it, or
   * `same`, one label for each position.
   */
  readonly labels: 'next' | 'same';
  /**
   * The prefix that the exporter put before the names of weights and nodes, such as `model.`; it is removed
   * from the names here.
   */
  readonly prefix?: string | undefined;
  /** Input shapes for the first read of the model, for extents that the file leaves open. */
  readonly shapes?: Readonly<Record<string, readonly number[]>> | undefined;
  /**
   * Whether a weight is trained, by its name here; the others stay constants. By default, the weights of
   * linear layers are trained, and weights with a dot in their names, as module parameters have. Folded
   * constants, masks and rotary frequencies are not.
   */
  readonly isTrained?: ((name: string) => boolean) | undefined;
  /** The output that holds the logits; by default the first. */
  readonly output?: string | undefined;
}

const onnxRules: FieldRules<LoadOnnxOptions<TensorDesc>> = {
  ...loadRules,
  externalData: anything,
  labels: required(oneOf('next', 'same')),
  prefix: text,
  shapes: anything,
  isTrained: callback,
  output: text,
};

/**
 * Loads a model that was exported as ONNX, to run it and to train all its weights or an adapter. Weights keep
 * their names from the file. A weight that the exporter renamed, such as `onnx::MatMul_584`, is named after
 * its linear layer: the node `/model/q_proj/MatMul` gives `model.q_proj.weight`. A weight that the exporter
 * wrote twice, once transposed, is trained as one. The inputs `input_ids`, `attention_mask`,
 * `token_type_ids`, `position_ids` and `pixel_values` are derived from a batch.
 * @throws the errors of `fromOnnx` and `OnnxModel.graph`; InvalidArgumentError for an input with another
 * name.
 */
export async function loadOnnxModel<T extends TensorDesc>(
  bytes: Uint8Array,
  options: LoadOnnxOptions<T>,
): Promise<Model<T>> {
  checkFields('options', options, onnxRules);
  const { engine, dtype, externalData, prefix = '' } = options;
  const model = await fromOnnx(bytes, { externalData });
  const output = options.output ?? (model.outputs[0] as string);
  if (!model.outputs.includes(output))
    throw new InvalidArgumentError('output', `must be one of ${model.outputs}, got '${output}'`);
  const first = model.graph({ shapes: { ...firstShapes(model), ...options.shapes } });
  const names = publicNames(first, prefix);
  const named = Object.entries(first.weights).map(
    ([name, { value }]) => [names.get(name) ?? name, value] as const,
  );
  const layers = new Set([...linearLayers(first).values()].map(({ weight }) => names.get(weight)));
  const isParameter = (name: string, value: Tensor): boolean =>
    layers.has(name) || (name.includes('.') && !/inv_freq$/.test(name) && !isMask(value));
  const { isTrained } = options;
  const trained = new Map(
    named.filter(([name, value]) => (isTrained ? isTrained(name) : isParameter(name, value))),
  );
  const tied = tiedWeights(trained);
  const own = new Map([...trained].filter(([name]) => !tied.has(name)));
  const linear = new Map<string, LinearShape>();
  for (const { layer, shape } of linearLayers(first).values())
    linear.set(withoutPrefix(layer, prefix), shape);

  /** A weight of the file as a variable of the traced function; null for a weight that is not trained. */
  function parameter(scope: Scope, name: string, shape: readonly number[]): Variable | null {
    const known = names.get(name) ?? withoutPrefix(name, prefix);
    const tie = tied.get(known);
    if (tie?.isTransposed)
      return transpose(scope.parameter(tie.weight, [...shape].reverse(), 'random'), [1, 0]);
    return trained.has(known) ? scope.parameter(tie?.weight ?? known, shape, 'random') : null;
  }

  const logits: TraceLogits = (scope, inputs) => {
    const given = onnxInputs(model, inputs);
    const shapes = Object.fromEntries(Object.entries(given).map(([name, { shape }]) => [name, shape]));
    const made = model.graph({ shapes });
    const operands: Record<number, Operand> = { ...made.bindings };
    for (const [name, { id }] of Object.entries(made.inputs)) operands[id] = given[name] as Variable;
    for (const [name, { tensor, value }] of Object.entries(made.weights)) {
      const variable = parameter(scope, name, value.shape) ?? constant(value);
      operands[tensor.id] = inDType(variable, tensor.dtype);
    }
    const layers = linearLayers(made);
    const values = callGraph(made.graph, operands, ({ id }, [x], outputs) => {
      const found = layers.get(id);
      const adapter = found && scope.adapter(withoutPrefix(found.layer, prefix), found.shape);
      return adapter ? [withAdapter(scope, outputs[0] as Variable, x as Variable, adapter)] : outputs;
    });
    return values.get(made.outputs[output]?.id ?? -1) as Variable;
  };
  const definition: ModelDefinition = {
    kind: 'exported',
    labels: options.labels,
    canonical: name => name,
    logits,
  };
  const shapesOf = new Map([...own].map(([name, { shape }]) => [name, shape] as const));
  const uploaded = uploadAll(engine, own, value => (dtype ? value.cast(dtype) : value));
  return new Model(engine, definition, { weights: shapesOf, linear }, uploaded, logits, options.autocast);
}

/** Whether a tensor looks like an additive mask: one of its numbers is −1e4 or less. */
function isMask(value: Tensor): boolean {
  return value.toFloat64().some(x => !(x > -1e4));
}

/** The extents for the first read of a model: those of the file, a batch of 1, and 2 for the others. */
function firstShapes({ inputs }: OnnxModel): Record<string, readonly number[]> {
  return Object.fromEntries(
    inputs.flatMap(({ name, shape }) =>
      shape ? [[name, shape.map((n, d) => (typeof n === 'number' ? n : d === 0 ? 1 : 2))] as const] : [],
    ),
  );
}

/** The names of weights here, by their names in the file. */
function publicNames(made: OnnxGraph, prefix: string): ReadonlyMap<string, string> {
  const names = new Map(Object.keys(made.weights).map(name => [name, withoutPrefix(name, prefix)] as const));
  for (const { layer, weight } of linearLayers(made).values())
    if (layer !== weight) names.set(weight, `${withoutPrefix(layer, prefix)}.weight`);
  return names;
}

function withoutPrefix(name: string, prefix: string): string {
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}
