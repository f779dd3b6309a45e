import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import { type FromOnnxOptions, fromOnnx, type OnnxModel } from '@tilewise/graph/onnx';
import { callGraph, constant, type Operand, type Variable } from '@tilewise/graph/ops';
import type { ModelDefinition, TraceLogits } from '../../architectures/architecture.ts';
import { inDType, withAdapter } from '../../architectures/transformer/scope.ts';
import { checkFields, type FieldRules } from '../../checks/check-fields.ts';
import { anything, callback, oneOf, required, text } from '../../checks/rules.ts';
import { type LoadOptions, loadRules, Model } from '../../model/model.ts';
import { uploadAll } from '../../model/upload.ts';
import { linearLayers } from './linear-layers.ts';
import { onnxInputs } from './onnx-inputs.ts';
import { type TrainedWeights, trainedWeights, withoutPrefix } from './trained-weights.ts';

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
  const weights = trainedWeights(first, prefix, options.isTrained);
  const logits = logitsOf(model, weights, output, prefix);
  const definition: ModelDefinition = {
    kind: 'exported',
    labels: options.labels,
    canonical: name => name,
    logits,
  };
  const shapes = new Map([...weights.values].map(([name, { shape }]) => [name, shape] as const));
  const uploaded = uploadAll(engine, weights.values, value => (dtype ? value.cast(dtype) : value));
  return new Model(
    engine,
    definition,
    { weights: shapes, linear: weights.linear },
    uploaded,
    logits,
    options.autocast,
  );
}

/**
 * The logits of an imported model, as a function to trace. Its graph is read again for each shape of batch.
 */
function logitsOf(model: OnnxModel, weights: TrainedWeights, output: string, prefix: string): TraceLogits {
  return (scope, inputs) => {
    const given = onnxInputs(model, inputs);
    const shapes = Object.fromEntries(Object.entries(given).map(([name, { shape }]) => [name, shape]));
    const read = model.graph({ shapes });
    const operands: Record<number, Operand> = { ...read.bindings };
    for (const [name, { id }] of Object.entries(read.inputs)) operands[id] = given[name] as Variable;
    for (const [name, { tensor, value }] of Object.entries(read.weights)) {
      const variable = weights.variable(scope, name, value.shape) ?? constant(value);
      operands[tensor.id] = inDType(variable, tensor.dtype);
    }
    const layers = linearLayers(read);
    const values = callGraph(read.graph, operands, ({ id }, [x], outputs) => {
      const found = layers.get(id);
      const adapter = found && scope.adapter(withoutPrefix(found.layer, prefix), found.shape);
      return adapter ? [withAdapter(scope, outputs[0] as Variable, x as Variable, adapter)] : outputs;
    });
    return values.get(read.outputs[output]?.id ?? -1) as Variable;
  };
}

/** The extents for the first read of a model: those of the file, a batch of 1, and 2 for the others. */
function firstShapes({ inputs }: OnnxModel): Record<string, readonly number[]> {
  return Object.fromEntries(
    inputs.flatMap(({ name, shape }) =>
      shape ? [[name, shape.map((n, d) => (typeof n === 'number' ? n : d ? 2 : 1))] as const] : [],
    ),
  );
}
