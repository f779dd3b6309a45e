import {
  checkFunction,
  checkObject,
  type DType,
  describeValue,
  InvalidArgumentError,
  Tensor,
  type TensorDesc,
} from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { InvalidGraphError } from '../../../errors.ts';
import type { CompiledGraph } from '../../../runtime/compiled-graph.ts';
import { tensorsOf } from './branches.ts';
import { GraphFromModel, type OnnxGraph } from './build-graph.ts';
import { elementTypeOf } from './file/element-type.ts';
import { type ModelRecord, readModel, type ValueRecord } from './file/read-model.ts';
import { type ExternalData, engineTensor, readTensor, type TensorRecord } from './file/tensor-record.ts';
import { Message } from './file/wire.ts';
import type { GivenInputs } from './given-inputs.ts';

/** Options of `fromOnnx`. */
export interface FromOnnxOptions {
  /**
   * The bytes of another file that holds weights, by the location that the model names. The location comes
   * from the file, which may be anyone's: look it up among files that you expect instead of opening a path.
   */
  readonly externalData?: ((location: string) => Uint8Array | Promise<Uint8Array>) | undefined;
}

/** The shapes and options that a graph is made for. */
export interface OnnxGraphOptions {
  /** Shapes of inputs by name, where the model leaves an extent open. */
  readonly shapes?: Readonly<Record<string, readonly number[]>> | undefined;
  /**
   * Tensors of inputs by name, where shapes depend on their numbers; the graph is for these numbers alone.
   */
  readonly values?: Readonly<Record<string, Tensor>> | undefined;
}

/** An input of a model. */
export interface OnnxInput extends Pick<ValueRecord, 'name' | 'shape'> {
  /** The dtype of tensors for the input; null where engines do not take the input. */
  readonly dtype: DType | null;
}

/** A model of ONNX, read: graphs are made of it for shapes of its inputs. */
export class OnnxModel {
  readonly #model: ModelRecord;
  readonly #files: ReadonlyMap<string, Uint8Array>;
  readonly #compiled = new Map<string, { readonly made: OnnxGraph; readonly compiled: CompiledGraph }>();
  #engine: TensorEngine | null = null;

  /** Made by `fromOnnx`. */
  constructor(model: ModelRecord, files: ReadonlyMap<string, Uint8Array>) {
    this.#model = model;
    this.#files = files;
  }

  /** The inputs that are no weights. */
  get inputs(): readonly OnnxInput[] {
    const weights = new Set(this.#model.initializers.map(({ name }) => name));
    return this.#model.inputs
      .filter(({ name }) => !weights.has(name))
      .map(({ name, shape, type }) => ({
        ...{ name, shape },
        dtype: type === null ? null : (elementTypeOf(type)?.dtype ?? null),
      }));
  }

  /** Names of the outputs. */
  get outputs(): readonly string[] {
    return this.#model.outputs.map(({ name }) => name);
  }

  /**
   * The model as a graph, for inputs of these shapes: what depends on shapes alone is computed, attention is
   * one operation where the model has it as one, and patterns of attention are found when the graph is
   * partitioned. `gradients` differentiates the graph.
   * @throws InvalidGraphError, InvalidOperationError or InvalidShapeError for a model that is wrong, or
   * shapes that are missing; UnsupportedOperationError for an operator that is not read, naming the node.
   */
  graph(options: OnnxGraphOptions = {}): OnnxGraph {
    checkObject('options', options);
    const { shapes = {}, values = {} } = options;
    checkObject('options.shapes', shapes);
    checkObject('options.values', values);
    const hosts = Object.entries(values).map(
      ([name, tensor]) => [name, { shape: tensor.shape, values: tensor.toFloat64() }] as const,
    );
    const given: GivenInputs = { shapes, values: Object.fromEntries(hosts) };
    return new GraphFromModel(this.#model, tensor => this.#data(tensor), given).build();
  }

  /**
   * Runs the model. It is compiled once for each combination of shapes, and of numbers that shapes depend on.
   * @param inputs host tensors by name, in the dtypes of the model: 64-bit integers as i32.
   * @returns the outputs by name, as the engine's tensors.
   * @throws as `graph`; InvalidArgumentError for inputs that are missing or unknown.
   */
  async run<T extends TensorDesc>(
    engine: TensorEngine<T>,
    inputs: Readonly<Record<string, Tensor>>,
  ): Promise<Record<string, T>> {
    checkObject('inputs', inputs);
    const names = this.inputs.map(({ name }) => name);
    const strange = Object.keys(inputs).find(name => !names.includes(name));
    if (strange !== undefined)
      throw new InvalidArgumentError(
        `inputs.${strange}`,
        `is no input of the model, which has ${names.join(', ')}`,
      );
    const missing = names.find(name => inputs[name] === undefined);
    if (missing !== undefined)
      throw new InvalidArgumentError(`inputs.${missing}`, 'is an input of the model and is not given');
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

  /** Frees what was compiled. The model can be run again. */
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
    if (oldest !== undefined && this.#compiled.size >= mostCompiled) {
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
    if (!file || offset + length > file.length)
      throw new InvalidArgumentError(
        'externalData',
        `must give ${offset + length} bytes of '${location}' for tensor '${name}', got ${file?.length ?? 0}`,
      );
    return file.subarray(offset, offset + length);
  }
}

/** Graphs that are kept for other shapes and numbers; the oldest makes room. */
const mostCompiled = 16;

/** An output that is an input or a weight, as a tensor of the caller's own. */
function passedOn<T extends TensorDesc>(engine: TensorEngine<T>, tensor: Tensor | undefined): T {
  if (!tensor) throw new InvalidGraphError('ONNX file: an output is given by no node');
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
 * Reads a model of ONNX: operator sets 1 to 28 of ONNX and those of com.microsoft, as far as transformers use
 * them. Integers of 64 bits become i32, with a check of their range, and doubles f32.
 * @param bytes the file; its weights are not copied.
 * @throws InvalidGraphError for a file that is no model, naming the node or tensor; UnsupportedOperationError
 * for elements that no engine has; InvalidArgumentError for what is no bytes, or weights in other files
 * without `externalData`.
 */
export async function fromOnnx(bytes: Uint8Array, options: FromOnnxOptions = {}): Promise<OnnxModel> {
  if (!(bytes instanceof Uint8Array))
    throw new InvalidArgumentError('bytes', `must be a Uint8Array, got ${describeValue(bytes)}`);
  checkObject('options', options);
  const { externalData } = options;
  if (externalData !== undefined) checkFunction('options.externalData', externalData);
  const model = readModel(bytes);
  const locations = new Set(tensorsOf(model).flatMap(({ data }) => (isExternal(data) ? data.location : [])));
  const files = new Map<string, Uint8Array>();
  for (const location of locations) {
    if (!externalData)
      throw new InvalidArgumentError('options.externalData', `must be given: weights lie in '${location}'`);
    files.set(location, await externalData(location));
  }
  return new OnnxModel(model, files);
}

const isExternal = (data: TensorRecord['data']): data is ExternalData => !(data instanceof Uint8Array);

/**
 * A tensor of a file that holds one alone (`TensorProto`), as ONNX's tests store inputs and outputs.
 * @throws InvalidGraphError for bytes that are no such tensor; UnsupportedOperationError for elements that no
 * engine has.
 */
export function tensorFromOnnx(bytes: Uint8Array): { readonly name: string; readonly tensor: Tensor } {
  const record = readTensor(new Message(bytes, 'the tensor'));
  const { data, name } = record;
  if (isExternal(data))
    throw new InvalidArgumentError('bytes', 'must hold the tensor: its data lie in another file');
  return { name, tensor: engineTensor(record, data) };
}
