import {
  checkFunction,
  type DType,
  describeValue,
  InvalidArgumentError,
  Tensor,
  type TensorDesc,
} from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { InvalidGraphError } from '../../../errors.ts';
import { checkNames } from '../../../ir/check-names.ts';
import type { CompiledGraph } from '../../../runtime/compiled-graph.ts';
import { operatorsOf, tensorsOf } from './branches.ts';
import { GraphFromModel, type OnnxGraph } from './build-graph.ts';
import { elementTypeOf } from './file/element-type.ts';
import { type ModelRecord, readModel, type ValueRecord } from './file/read-model.ts';
import { type ExternalData, engineTensor, readTensor, type TensorRecord } from './file/tensor-record.ts';
import { Message } from './file/wire.ts';
import type { GivenInputs } from './given-inputs.ts';
import { loadOnnxOperators, type OnnxOperators } from './operators/table.ts';

/** The options of `fromOnnx`. */
export interface FromOnnxOptions {
  /**
   * Returns the bytes of another file with weights, by the location that the model names. The location comes
   * from the model, which may be untrusted: look it up among expected files instead of opening it as a path.
   */
  readonly externalData?: ((location: string) => Uint8Array | Promise<Uint8Array>) | undefined;
}

/** The shapes and values that a graph is built for. */
export interface OnnxGraphOptions {
  /** The shapes of inputs by name, for inputs with extents that the model leaves open. */
  readonly shapes?: Readonly<Record<string, readonly number[]>> | undefined;
  /**
   * The tensors of inputs by name, for inputs whose numbers determine shapes. The graph is valid only for
   * these numbers.
   */
  readonly values?: Readonly<Record<string, Tensor>> | undefined;
}

/** An input of a model. */
export interface OnnxInput extends Pick<ValueRecord, 'name' | 'shape'> {
  /** The dtype of tensors for the input; null if engines do not support the input's type. */
  readonly dtype: DType | null;
}

function checkTensors(argument: string, tensors: Readonly<Record<string, Tensor>>): void {
  for (const [name, tensor] of Object.entries(tensors)) {
    if (!(tensor instanceof Tensor))
      throw new InvalidArgumentError(`${argument}.${name}`, `must be a Tensor, got ${describeValue(tensor)}`);
  }
}

/** An ONNX model, from which graphs can be built for given shapes of its inputs. */
export class OnnxModel {
  readonly #model: ModelRecord;
  readonly #operators: OnnxOperators;
  readonly #files: ReadonlyMap<string, Uint8Array>;
  readonly #compiled = new Map<string, { readonly made: OnnxGraph; readonly compiled: CompiledGraph }>();
  #engine: TensorEngine | null = null;

  /** Use `fromOnnx`. @internal */
  constructor(model: ModelRecord, operators: OnnxOperators, files: ReadonlyMap<string, Uint8Array>) {
    this.#model = model;
    this.#operators = operators;
    this.#files = files;
  }

  /** The inputs that are not weights. */
  get inputs(): readonly OnnxInput[] {
    const weights = new Set(this.#model.initializers.map(({ name }) => name));
    return this.#model.inputs
      .filter(({ name }) => !weights.has(name))
      .map(({ name, shape, type }) => ({
        ...{ name, shape },
        dtype: type === null ? null : (elementTypeOf(type)?.dtype ?? null),
      }));
  }

  #names(): readonly string[] {
    return this.inputs.map(({ name }) => name);
  }

  /** The names of the outputs. */
  get outputs(): readonly string[] {
    return this.#model.outputs.map(({ name }) => name);
  }

  /**
   * Builds a graph of the model for inputs of given shapes. Everything that depends only on shapes is
   * computed now. An attention operator of the model becomes one operation, and patterns of attention are
   * recognised when the graph is partitioned. `gradients` can differentiate the graph.
   * @throws InvalidGraphError, InvalidOperationError or InvalidShapeError for an invalid model or missing
   * shapes; UnsupportedOperationError for an unsupported operator, naming the node.
   */
  graph(options: OnnxGraphOptions = {}): OnnxGraph {
    checkNames('options', options, ['shapes', 'values']);
    const { shapes = {}, values = {} } = options;
    const names = this.#names();
    checkNames('options.shapes', shapes, names);
    checkNames('options.values', values, names);
    checkTensors('options.values', values);
    const hosts = Object.entries(values).map(
      ([name, tensor]) => [name, { shape: tensor.shape, values: tensor.toFloat64() }] as const,
    );
    for (const [name, shape] of Object.entries(shapes))
      if (!Array.isArray(shape))
        throw new InvalidArgumentError(
          `options.shapes.${name}`,
          `must be a shape, got ${describeValue(shape)}`,
        );
    const given: GivenInputs = { shapes, values: Object.fromEntries(hosts) };
    return new GraphFromModel(this.#model, this.#operators, tensor => this.#data(tensor), given).build();
  }

  /**
   * Runs the model. It is compiled once for each combination of shapes and of numbers that shapes depend on.
   * @param inputs host tensors by name, in the dtypes that `inputs` lists; 64-bit integers are i32.
   * @returns the outputs by name, as the engine's tensors.
   * @throws the errors of `graph`; InvalidArgumentError for missing or unknown inputs.
   */
  async run<T extends TensorDesc>(
    engine: TensorEngine<T>,
    inputs: Readonly<Record<string, Tensor>>,
  ): Promise<Record<string, T>> {
    const names = this.#names();
    checkNames('inputs', inputs, names);
    const missing = names.find(name => inputs[name] === undefined);
    if (missing !== undefined)
      throw new InvalidArgumentError(`inputs.${missing}`, 'is an input of the model and is missing');
    checkTensors('inputs', inputs);
    const { made, compiled } = this.#compile(engine, inputs);
    const bindings: Record<number, Tensor> = { ...made.bindings };
    for (const [name, tensor] of Object.entries(made.inputs)) bindings[tensor.id] = inputs[name] as Tensor;
    const results = await (compiled as CompiledGraph<T>).execute(bindings as never);
    return Object.fromEntries(
      Object.entries(made.outputs).map(([name, { id }]) => [
        name,
        results[id] ?? passedOn(engine, bindings[id]),
      ]),
    );
  }

  /** Frees the compiled graphs. The model can still be run again. */
  release(): void {
    for (const { compiled } of this.#compiled.values()) compiled.release();
    this.#compiled.clear();
    this.#engine = null;
  }

  #compile<T extends TensorDesc>(engine: TensorEngine<T>, inputs: Readonly<Record<string, Tensor>>) {
    if (this.#engine !== (engine as unknown)) this.release();
    this.#engine = engine as unknown as TensorEngine;
    const shapes = Object.fromEntries(Object.entries(inputs).map(([name, { shape }]) => [name, shape]));
    const shapeKey = JSON.stringify(shapes);
    for (const [key, entry] of this.#compiled) {
      if (key === keyOf(shapeKey, entry.made.specialised, inputs)) return entry;
    }
    const made = this.graph({ shapes, values: inputs });
    const compiled = made.graph.compile(engine);
    const entry = { made, compiled: compiled as unknown as CompiledGraph };
    const [oldest] = this.#compiled.keys();
    if (oldest !== undefined && this.#compiled.size >= maxCompiledGraphs) {
      this.#compiled.get(oldest)?.compiled.release();
      this.#compiled.delete(oldest);
    }
    this.#compiled.set(keyOf(shapeKey, made.specialised, inputs), entry);
    return entry;
  }

  #data({ name, data }: TensorRecord): Uint8Array {
    if (data instanceof Uint8Array) return data;
    const { location, offset, length } = data;
    const file = this.#files.get(location);
    const end = offset + length;
    if (!(file instanceof Uint8Array) || end > file.length)
      throw new InvalidArgumentError(
        'externalData',
        `must return a Uint8Array with ${end} bytes of '${location}' for tensor '${name}', got ${file?.length}`,
      );
    return file.subarray(offset, end);
  }
}

/** The maximum number of compiled graphs in the cache; the oldest is dropped first. */
const maxCompiledGraphs = 16;

/** Copies an output that is an input or a weight, because the caller owns outputs. */
function passedOn<T extends TensorDesc>(engine: TensorEngine<T>, tensor: Tensor | undefined): T {
  if (!tensor) throw new InvalidGraphError('ONNX file: no node produces an output');
  return engine.upload(
    Tensor.from(tensor.toFloat64(), tensor.shape, { dtype: tensor.dtype, overflow: 'ieee' }),
  );
}

function keyOf(
  shapes: string,
  specialised: ReadonlySet<string>,
  inputs: Readonly<Record<string, Tensor>>,
): string {
  return [
    shapes,
    ...[...specialised].sort().map(name => `${name}: ${inputs[name]?.toFloat64().join()}`),
  ].join(' ');
}

/**
 * Reads an ONNX model. It supports the operators of ONNX (operator sets 1 to 28) and of com.microsoft that
 * transformers use. 64-bit integers become i32, with a range check, and doubles become f32.
 * @param bytes the file; its weights are not copied.
 * @throws InvalidGraphError if the file is not a valid model, naming the node or tensor;
 * UnsupportedOperationError for element types that no engine supports; InvalidArgumentError if `bytes` is not
 * a Uint8Array, or if weights are in other files and `externalData` is missing; TilewiseError `UNSUPPORTED`
 * if the code of com.microsoft's operators, of operators on images or of quantised models, or of rare
 * operators, which a model with such operators needs, could not be loaded.
 */
export async function fromOnnx(bytes: Uint8Array, options: FromOnnxOptions = {}): Promise<OnnxModel> {
  if (!(bytes instanceof Uint8Array))
    throw new InvalidArgumentError('bytes', `must be a Uint8Array, got ${describeValue(bytes)}`);
  checkNames('options', options, ['externalData']);
  const { externalData } = options;
  if (externalData !== undefined) checkFunction('options.externalData', externalData);
  const model = readModel(bytes);
  const locations = new Set(tensorsOf(model).flatMap(({ data }) => (isExternal(data) ? data.location : [])));
  const files = new Map<string, Uint8Array>();
  for (const location of locations) {
    if (!externalData)
      throw new InvalidArgumentError(
        'options.externalData',
        `must be given: the weights are in '${location}'`,
      );
    files.set(location, await externalData(location));
  }
  const nodes = [model, ...model.functions.values()].flatMap(record => record.nodes);
  return new OnnxModel(model, await loadOnnxOperators(model.opsets, operatorsOf(nodes)), files);
}

const isExternal = (data: TensorRecord['data']): data is ExternalData => !(data instanceof Uint8Array);

/**
 * Reads a file with one tensor (`TensorProto`), the format in which ONNX's tests store inputs and outputs.
 * @throws InvalidGraphError if the bytes are not a tensor; UnsupportedOperationError for an element type that
 * no engine supports.
 */
export function tensorFromOnnx(bytes: Uint8Array): { readonly name: string; readonly tensor: Tensor } {
  const record = readTensor(new Message(bytes, 'the tensor'));
  const { data, name } = record;
  if (isExternal(data))
    throw new InvalidArgumentError('bytes', 'must contain the data of the tensor, which is in another file');
  return { name, tensor: engineTensor(record, data) };
}
