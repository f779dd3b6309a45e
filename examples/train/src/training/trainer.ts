import { Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { requireWhole, type TrainConfig, trainConfig } from '../config.ts';
import type { Batch, Dataset, Task } from '../data/dataset.ts';
import type { ModelShape } from '../model/model-shape.ts';
import { parameterSpecs } from '../model/parameters.ts';
import { learningRateAt } from '../optimizer/learning-rate.ts';
import { createOptimizer } from '../optimizer/optimizer.ts';
import { createPredictor, type Predictor } from '../prediction/predictor.ts';
import { dropoutSeed, randomStream } from '../random-streams.ts';
import { residentGraph } from '../running/resident-graph.ts';
import { writeLossGradients } from './loss-gradients.ts';
import { createParameterSet, initialTensors, type NamedTensors } from './parameter-set.ts';

/** What a training run is. */
export interface TrainerOptions<T extends TensorDesc> {
  readonly engine: TensorEngine<T>;
  readonly data: Dataset;
  readonly config?: Partial<TrainConfig>;
  /** Chooses the initial weights, the sequences and the dropout. */
  readonly seed?: number | bigint;
  /** A run to take up again; bit for bit if all else is as it was. */
  readonly from?: Pick<Snapshot, 'step' | 'tensors'>;
}

/** What a step came to. */
export interface StepReport {
  /** From 0. */
  readonly step: number;
  /** Of the batch of this step, before the update. */
  readonly loss: number;
  readonly accuracy: number;
  readonly learningRate: number;
}

/** A state of a run, which it can be taken up from. */
export interface Snapshot {
  readonly task: Task;
  readonly config: TrainConfig;
  readonly characters: readonly string[];
  readonly seed: bigint;
  /** Steps done. */
  readonly step: number;
  readonly tensors: NamedTensors;
}

/** A model in training. One call at a time. */
export interface Trainer extends Predictor {
  readonly config: TrainConfig;
  readonly shape: ModelShape;
  readonly data: Dataset;
  /** How many numbers are trained. */
  readonly parameterCount: number;
  /** Steps done. */
  readonly steps: number;
  /** Does a step. The loss and the accuracy are all that is read back from the engine. */
  step(): Promise<StepReport>;
  snapshot(): Promise<Snapshot>;
  /** Frees what it has on the engine. */
  release(): void;
}

/**
 * Readies a model and its training for an engine. Steps depend on the options and the engine alone: the same
 * seed gives the same losses.
 * @throws InvalidArgumentError or InvalidShapeError for a configuration or parameters that do not fit.
 */
export function createTrainer<T extends TensorDesc>({
  engine,
  data,
  config: given,
  seed = 0,
  from,
}: TrainerOptions<T>): Trainer {
  const config = trainConfig(given);
  const { layers, heads, dim, context, batch } = config;
  const shape = { vocabulary: data.vocabulary.characters.length, layers, heads, dim, context };
  const specs = parameterSpecs(shape);
  requireWhole('step', from?.step ?? 0, 0);
  const parameters = createParameterSet(engine, specs, from?.tensors ?? initialTensors(specs, seed));
  const { forward, pass, loss, backward, seed: lossSeed } = writeLossGradients(shape, config);
  const running = {
    forward: residentGraph(engine, forward.graph, forward.constants),
    backward: residentGraph(
      engine,
      backward,
      new Map([...forward.constants, [lossSeed.id, Tensor.from([1], [])]]),
    ),
    optimizer: createOptimizer(
      engine,
      specs.map(spec => spec.shape),
      config,
    ),
  };
  const logical = [...pass.parameters.values()];
  const gradientIds = logical.map(t => backward.gradients.get(t.id)?.id ?? -1);
  const predictor = createPredictor(engine, shape, data, {
    seed,
    batch,
    parameters: () => parameters.current,
  });
  let steps = from?.step ?? 0;

  function bindBatch({ tokens, labels, weights }: Batch): Record<number, T> {
    const rows = [tokens.length];
    const list = (values: Int32Array): T => engine.upload(Tensor.wrap(values, { dtype: 'i32', shape: rows }));
    return {
      [pass.tokens.id]: list(tokens),
      [loss.labels.id]: list(labels),
      [loss.weights.id]: engine.upload(Tensor.wrap(weights, { dtype: 'f32', shape: rows })),
    };
  }

  function bindDropout(): Record<number, bigint> {
    if (!pass.dropout) return {};
    const { seed: logicalSeed, offsets } = pass.dropout;
    const first = BigInt(steps) * BigInt(offsets.length);
    const numbers = offsets.map(({ id }, n) => [id, first + BigInt(n)] as const);
    return { [logicalSeed.id]: dropoutSeed(seed), ...Object.fromEntries(numbers) };
  }

  return {
    ...predictor,
    config,
    shape,
    data,
    parameterCount: specs.reduce((sum, spec) => sum + spec.shape.reduce((n, extent) => n * extent, 1), 0),
    get steps() {
      return steps;
    },
    async step() {
      const drawn = bindBatch(data.draw(randomStream(seed, 'training', steps), batch, context, 'training'));
      const { current, next } = parameters;
      const bindings = {
        ...drawn,
        ...bindDropout(),
        ...Object.fromEntries(logical.map(({ id }, n) => [id, current[n].value])),
      };
      const learningRate = learningRateAt(steps, config);
      await running.forward.run(bindings);
      await running.backward.run({ ...bindings, ...running.forward.results });
      const gradients = gradientIds.map(id => running.backward.results[id]);
      await running.optimizer.step(gradients, current, next, { t: steps + 1, learningRate });
      parameters.advance();
      for (const tensor of Object.values(drawn)) engine.release(tensor);
      const [lossNow, accuracy] = (await engine.download(running.forward.results[loss.score.id])).toFloat32();
      return { step: steps++, loss: lossNow, accuracy, learningRate };
    },
    async snapshot() {
      const { task, vocabulary } = data;
      const tensors = await parameters.download();
      return { task, config, characters: vocabulary.characters, seed: BigInt(seed), step: steps, tensors };
    },
    release() {
      predictor.release();
      for (const part of Object.values(running)) part.release();
      parameters.release();
    },
  };
}
