import {
  checkObject,
  checkOptions,
  elementCount,
  InvalidArgumentError,
  Tensor,
  type TensorDesc,
} from '@tilewise/core';
import type { Place, TensorEngine } from '@tilewise/core/primitive';
import { type CompiledFunction, compile, type Specs, type Variable } from '@tilewise/graph/ops';
import type { ModelDefinition, TraceLogits } from '../architectures/architecture.ts';
import type { AutocastDType, Scope } from '../architectures/transformer/scope.ts';
import { checkArgument, type FieldRules } from '../checks/check-fields.ts';
import { engineRule, oneOf, required } from '../checks/rules.ts';
import { type AdapterWeights, adapterOf, loraNames } from './adapter.ts';
import { type Batch, batchTensors } from './batch.ts';
import { bytesOf } from './bytes.ts';
import { getOrInsertComputed } from './get-or-insert.ts';
import { releaseAll } from './upload.ts';
import { type ModelLayers, type WeightDType, weightScope } from './weights.ts';

/** How a model is loaded. */
export interface LoadOptions<T extends TensorDesc> {
  /** The engine on which the model runs, such as `cpuEngine()`. */
  readonly engine: TensorEngine<T>;
  /** The storage dtype of the weights; by default that of the files. */
  readonly dtype?: WeightDType | undefined;
  /**
   * The dtype of the operands of linear layers and of attention, as in `torch.autocast`. Their results, and
   * all other operations, are f32. Default: f32. With f16, which fits weights that are stored in f16, devices
   * with subgroup matrices for f16 use them.
   */
  readonly autocast?: AutocastDType | undefined;
}

export const loadRules: FieldRules<LoadOptions<TensorDesc>> = {
  engine: required(engineRule),
  dtype: oneOf('f32', 'f16', 'bf16'),
  autocast: oneOf('f16', 'bf16'),
};

/**
 * Checks an argument that must be a model.
 * @throws InvalidArgumentError for any other value, and for a model that has been released.
 */
export function checkModel(model: unknown): void {
  checkArgument('model', model, { rule: 'must be a model', holds: x => x instanceof Model });
  if ((model as Model).isReleased) throw new InvalidArgumentError('model', 'has been released');
}

/** A model on an engine. */
export class Model<T extends TensorDesc = TensorDesc> {
  /** The engine that holds the weights and runs the model. */
  readonly engine: TensorEngine<T>;
  /** The architecture, with the sizes of the configuration. */
  readonly definition: ModelDefinition;
  /** The shapes of the weights, and which of them are linear layers, by name. */
  readonly layers: Omit<ModelLayers, 'initial'>;
  /** The weights by name. A trainer replaces them. */
  readonly weights: Map<string, T>;
  /** @internal */
  readonly traceLogits: TraceLogits;
  /** The dtype of the operands of linear layers and of attention, if it is not f32. */
  readonly autocast: AutocastDType | undefined;
  /** Tensors that weights are views of, and where their memory is. */
  readonly #memory = new Map<T, Place>();
  #adapter: AdapterWeights<T> | null = null;
  #isReleased = false;
  readonly #held = new Map<string, { release(): void }>();

  /** Use `loadModel` or `createModel`. @internal */
  constructor(
    engine: TensorEngine<T>,
    definition: ModelDefinition,
    layers: Omit<ModelLayers, 'initial'>,
    weights: Map<string, T>,
    traceLogits: TraceLogits,
    autocast?: AutocastDType,
  ) {
    if (autocast && definition.kind === 'exported')
      throw new InvalidArgumentError('autocast', `must be absent for imported graphs, got '${autocast}'`);
    this.autocast = autocast;
    this.engine = engine;
    this.definition = definition;
    this.layers = layers;
    this.weights = weights;
    this.traceLogits = traceLogits;
  }

  /**
   * The adapter that the model runs with, or null. An adapter with matrices of other layers is refused with
   * InvalidArgumentError, and the model keeps the previous one.
   */
  get adapter(): AdapterWeights<T> | null {
    return this.#adapter;
  }

  set adapter(adapter: AdapterWeights<T> | null) {
    if (adapter !== null) {
      checkOptions('adapter', adapter, ['config', 'tensors']);
      checkObject('adapter.tensors', adapter.tensors);
      const known = new Set([...this.layers.linear.keys()].flatMap(loraNames));
      const other = Object.keys(adapter.tensors).find(name => !known.has(name));
      if (other !== undefined)
        throw new InvalidArgumentError('adapter', `has '${other}', which is of no layer of the model`);
    }
    this.#adapter = adapter;
  }

  /** The number of elements of all weights. */
  get parameterCount(): number {
    return [...this.layers.weights.values()].reduce((sum, shape) => sum + elementCount(shape), 0);
  }

  /** Logits of all tokens (B, S, vocabulary), or of the classes of images (B, classes), f32. */
  async logits(batch: Batch): Promise<Tensor> {
    const tensors = batchTensors(this.definition, batch);
    const run = this.compiled('logits', describeAll(tensors), this.traceLogits);
    const logits = Tensor.zeros(run.results[0].shape);
    await run(this.bindings(tensors), [logits]);
    return logits;
  }

  /**
   * A function of some tensors, the weights and the adapter, compiled once for each name and for each set of
   * shapes and dtypes; the model's `release` frees it.
   * @internal
   */
  compiled<R>(
    name: string,
    specs: Specs,
    fn: (scope: Scope, inputs: Readonly<Record<string, Variable>>) => R,
  ): CompiledFunction<Specs, R, T> {
    const all = { ...specs, ...this.specs() };
    const key = JSON.stringify([name, all, this.adapter?.config]);
    return this.held(key, () => compile(this.engine, inputs => fn(this.scope(inputs), inputs), all));
  }

  /**
   * The scope of a traced function whose arguments are the weights and the adapter's matrices by name.
   * @internal
   */
  scope(inputs: Readonly<Record<string, Variable>>): Scope {
    return { ...weightScope(inputs, adapterOf(this.adapter, inputs)), autocast: this.autocast };
  }

  /** The cached object for a key, created if missing; the model's `release` frees it. @internal */
  held<R extends { release(): void }>(key: string, make: () => R): R {
    return getOrInsertComputed(this.#held, key, make) as R;
  }

  /**
   * The probabilities of each attention for the tokens of a batch: for each layer the softmax (B, H, S, S),
   * f32, whose row i is the distribution of token i over all tokens. A flash kernel never stores the softmax,
   * so it is computed as attention whose values are the rows of the identity matrix.
   */
  async attentionProbabilities(batch: Batch): Promise<Tensor[]> {
    const tensors = batchTensors(this.definition, batch);
    const run = this.compiled('attention', describeAll(tensors), (scope, inputs) => {
      const layers: Variable[] = [];
      this.traceLogits({ ...scope, observe: softmax => layers.push(softmax) }, inputs);
      return layers;
    });
    const layers = (await run(this.bindings(tensors))) as readonly T[];
    const maps: Tensor[] = [];
    for (const layer of layers) {
      maps.push(await this.engine.download(layer));
      this.engine.release(layer);
    }
    return maps;
  }

  /**
   * The shapes and dtypes of the weights and the adapter, by the names of a function's arguments.
   * @internal
   */
  specs(): Specs {
    return describeAll(this.bindings()) as Specs;
  }

  /**
   * The weights, the adapter's matrices and other tensors, by the names of a function's arguments.
   * @internal
   */
  bindings<U = never>(...others: readonly Readonly<Record<string, U>>[]): Readonly<Record<string, T | U>> {
    checkModel(this);
    const records = [this.adapter?.tensors ?? {}, ...others];
    // For hundreds of tensors, spreading records takes six times as long.
    return Object.fromEntries([...this.weights, ...records.flatMap(Object.entries<T | U>)]);
  }

  /**
   * Frees tensors that are replaced as weights. Memory of which they are views stays, because other weights
   * may be views of it too: `updateMemory` frees such memory.
   * @internal
   */
  releaseReplaced(tensors: Iterable<T>): void {
    for (const tensor of tensors)
      if (![...this.#memory].some(entry => this.#isPart(tensor, ...entry))) this.engine.release(tensor);
  }

  /**
   * Takes over the memory of which weights are views, and frees memory that no weight uses any more.
   * @param adopted the tensors of a trainer of which weights are views.
   * @internal
   */
  updateMemory(adopted: readonly T[] = []): void {
    for (const tensor of adopted) this.#memory.set(tensor, this.engine.primitives.placeOf(tensor));
    for (const [memory, own] of this.#memory) {
      if (Object.values(this.bindings()).some(tensor => this.#isPart(tensor, memory, own))) continue;
      this.#memory.delete(memory);
      this.engine.release(memory);
    }
  }

  #isPart(tensor: T, memory: T, own: Place): boolean {
    const place = this.engine.primitives.placeOf(tensor);
    const distance = place.byteOffset - own.byteOffset;
    return place.memory === own.memory && distance >= 0 && distance < bytesOf([memory]);
  }

  /** Whether `release` was called: the model cannot be used any more. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** Frees the model's memory on the engine. */
  release(): void {
    if (this.#isReleased) return;
    const tensors = [...this.#memory.keys(), ...Object.values(this.bindings())];
    this.#isReleased = true;
    for (const held of this.#held.values()) held.release();
    releaseAll(this.engine, tensors);
  }
}

/** Shapes and dtypes of tensors by name. */
export function describeAll(tensors: Readonly<Record<string, TensorDesc>>): Specs {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, { shape, dtype }]) => [name, { shape, dtype }]),
  );
}
