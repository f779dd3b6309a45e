import { InvalidArgumentError, sameShape, type Tensor, type TensorDesc } from '@tilewise/core';
import {
  type CompiledFunction,
  compile,
  crossEntropy,
  dropout,
  gradientsOf,
  multiply,
  reduceSum,
  reshape,
  type Specs,
  type Variable,
} from '@tilewise/graph/ops';
import { type AdapterWeights, adapterOf, type LoraConfig } from '../lora/adapter.ts';
import { initialAdapter } from '../lora/initial-adapter.ts';
import { type Batch, batchTensors, targetTensors } from '../model/batch.ts';
import { downloadAll } from '../model/download.ts';
import { modelLogits } from '../model/logits.ts';
import { describeAll, type Model } from '../model/model.ts';
import { weightScope } from '../model/weights.ts';
import { createOptimizer, type OptimizerOptions } from './optimizer.ts';

/**
 * A batch with what is to be predicted: labels (B, S) of tokens, or (B) of images; −100 counts for nothing.
 */
export interface LabelledBatch {
  readonly inputs: Batch;
  readonly labels: readonly ArrayLike<number>[] | ArrayLike<number>;
}

/** What a run is. */
export interface TrainerOptions {
  readonly optimizer?:
    | { readonly [K in keyof OptimizerOptions]?: OptimizerOptions[K] | undefined }
    | undefined;
  /** At each step, from 0. */
  readonly learningRate: number | ((step: number) => number);
  /** Trains an adapter and leaves the weights as they are. */
  readonly lora?: LoraConfig | undefined;
  /** A state of a run with the same model and options, as `loadCheckpoint` gives it, to go on from. */
  readonly from?: Snapshot | undefined;
  /** Chooses the first weights of an adapter and its dropout. */
  readonly seed?: number | bigint | undefined;
}

/** A state of a run: what is trained by name, and its moments by `first.NAME` and `second.NAME`. */
export interface Snapshot {
  /** Steps done. */
  readonly steps: number;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

/** What a step came to. */
export interface StepReport {
  /** From 0. */
  readonly step: number;
  /** Of the batch, before the update. */
  readonly loss: number;
  readonly learningRate: number;
}

/** The loss of a batch, and its gradients by the names of what is trained. */
export interface LossAndGradients<T> {
  readonly loss: number;
  readonly gradients: ReadonlyMap<string, T>;
}

/** A model in training. One call at a time. */
export interface Trainer<T> {
  /** Steps done. */
  readonly steps: number;
  /** The names of what is trained. */
  readonly trained: readonly string[];
  step(batch: LabelledBatch): Promise<StepReport>;
  /** The mean loss of a batch, without a step. */
  evaluate(batch: LabelledBatch): Promise<number>;
  /** The loss and its gradients, which the caller releases. */
  gradients(batch: LabelledBatch): Promise<LossAndGradients<T>>;
  /** The state of the run now. */
  snapshot(): Promise<Snapshot>;
  /** Frees what it has on the engine beside the model. */
  release(): void;
}

const standardOptimizer: OptimizerOptions = {
  betas: [0.9, 0.999],
  epsilon: 1e-8,
  weightDecay: 0.01,
  maxNorm: 1,
};

/**
 * Readies a model to be trained: all its weights with AdamW, or with `lora` an adapter alone, whose gradients
 * and moments are then all that is computed and held.
 */
export function createTrainer<T extends TensorDesc>(model: Model<T>, options: TrainerOptions): Trainer<T> {
  const { engine } = model;
  const { lora, learningRate } = options;
  if (lora && model.adapter) checkSameAdapter(lora, model.adapter.config);
  else if (lora) model.adapter = initialAdapter(model, lora, options.seed ?? 0);
  const own = lora ? new Map(Object.entries(model.adapter?.tensors ?? {})) : model.weights;
  const trained = [...own.keys()];
  const { from } = options;
  const initial = from ? restored(engine, own, from) : own;
  const given = Object.entries(options.optimizer ?? {}).filter(([, value]) => value !== undefined);
  const settings = { ...standardOptimizer, ...Object.fromEntries(given) };
  const optimizer = createOptimizer(engine, initial, settings, from?.tensors);
  const compiled = new Map<string, CompiledFunction<Specs, LossResult, T>>();
  let steps = from?.steps ?? 0;

  async function run(batch: LabelledBatch, wanted: readonly string[]): Promise<LossAndGradients<T>> {
    const tensors = { ...batchTensors(batch.inputs), ...targetTensors(model.definition, batch.labels) };
    const draws = wanted.length === 0 ? {} : dropoutNumbers(model, options.seed ?? 0, steps);
    const scalars = Object.keys(draws).map(name => [name, { shape: [], dtype: 'i64' }] as const);
    const specs: Specs = { ...describeAll(tensors), ...model.specs(), ...Object.fromEntries(scalars) };
    const key = JSON.stringify([specs, wanted, model.adapter?.config]);
    const loss = compiled.get(key) ?? compile(engine, inputs => lossOf(model, inputs, wanted), specs);
    compiled.set(key, loss);
    const results = await loss({ ...tensors, ...model.bindings(), ...draws });
    const [value] = (await engine.download(results.loss as T)).toFloat32();
    engine.release(results.loss as T);
    return { loss: value, gradients: new Map(Object.entries(results.gradients as Record<string, T>)) };
  }

  /** Puts what is trained now into the model. */
  function publish(): void {
    if (lora && model.adapter) {
      model.adapter = {
        ...model.adapter,
        tensors: Object.fromEntries(optimizer.values),
      } satisfies AdapterWeights<T>;
    } else for (const [name, value] of optimizer.values) model.weights.set(name, value);
  }

  if (from) publish();
  return {
    trained,
    get steps() {
      return steps;
    },
    async step(batch) {
      const { loss, gradients } = await run(batch, trained);
      const rate = typeof learningRate === 'number' ? learningRate : learningRate(steps);
      await optimizer.step(gradients, { step: steps + 1, learningRate: rate });
      for (const gradient of gradients.values()) engine.release(gradient);
      publish();
      return { step: steps++, loss, learningRate: rate };
    },
    evaluate: async batch => (await run(batch, [])).loss,
    gradients: batch => run(batch, trained),
    snapshot: async () => ({
      steps,
      tensors: await downloadAll(engine, new Map([...optimizer.values, ...optimizer.moments()])),
    }),
    release() {
      for (const loss of compiled.values()) loss.release();
      optimizer.release();
    },
  };
}

/**
 * An adapter that the model has already goes on as it is: options that say something else would be ignored.
 */
function checkSameAdapter(wanted: LoraConfig, own: LoraConfig): void {
  for (const name of Object.keys(wanted) as (keyof LoraConfig)[]) {
    const [given, has] = [wanted[name], own[name]].map(value => JSON.stringify(value));
    if (given !== has)
      throw new InvalidArgumentError(
        `options.lora.${name}`,
        `is ${given}, but the model has an adapter with ${has}; take the adapter's, or load the model without one`,
      );
  }
}

/** What is trained as a state has it. The tensors that it takes the places of are released. */
function restored<T extends TensorDesc>(
  engine: Model<T>['engine'],
  own: ReadonlyMap<string, T>,
  { tensors }: Snapshot,
): Map<string, T> {
  const found = new Map<string, Tensor>();
  for (const [name, { shape }] of own) {
    const tensor = tensors.get(name);
    if (!tensor || !sameShape(tensor.shape, shape))
      throw new InvalidArgumentError(
        'from',
        `has no '${name}' of shape [${shape}]: it is a state of another run`,
      );
    found.set(name, tensor);
  }
  for (const tensor of own.values()) engine.release(tensor);
  return new Map([...found].map(([name, tensor]) => [name, engine.upload(tensor.cast('f32'))]));
}

/** A loss, and its gradients by the names of what is trained. */
export interface LossResult {
  readonly loss: Variable;
  readonly gradients: Readonly<Record<string, Variable>>;
}

/**
 * What the dropout of an adapter draws from in a step: a seed, and an offset for each of its layers. Nothing
 * without dropout.
 */
function dropoutNumbers<T extends TensorDesc>(
  { adapter }: Model<T>,
  seed: number | bigint,
  step: number,
): Readonly<Record<string, bigint>> {
  if (!adapter || adapter.config.dropout === 0) return {};
  const count = Object.keys(adapter.tensors).length / 2;
  const offsets = Array.from(
    { length: count },
    (_, n) => [`dropout.${n}`, BigInt(step * count + n)] as const,
  );
  return { 'dropout.seed': BigInt(seed), ...Object.fromEntries(offsets) };
}

/** Mean cross-entropy over the labels that count, and its gradients. */
export function lossOf<T extends TensorDesc>(
  model: Model<T>,
  inputs: Readonly<Record<string, Variable>>,
  wanted: readonly string[],
): LossResult {
  let layer = 0;
  const drop = (x: Variable): Variable => {
    const [seed, offset] = ['seed', layer++].map(name => inputs[`dropout.${name}`]);
    return seed && offset ? dropout(x, seed, offset, { p: model.adapter?.config.dropout }) : x;
  };
  const scope = weightScope(inputs, adapterOf(model.adapter, inputs, drop));
  const logits = modelLogits(model.definition, scope, inputs);
  const classes = logits.shape[logits.shape.length - 1];
  const { labels, counts } = inputs as { readonly labels: Variable; readonly counts: Variable };
  const rows = crossEntropy(reshape(logits, [labels.shape[0], classes]), labels);
  const loss = reduceSum(multiply(rows, counts), { axes: [0] });
  const gradients =
    wanted.length === 0
      ? []
      : gradientsOf(
          loss,
          wanted.map(name => inputs[name] as Variable),
        );
  return { loss, gradients: Object.fromEntries(wanted.map((name, n) => [name, gradients[n]])) };
}
