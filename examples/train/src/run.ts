import { InvalidArgumentError, type Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import {
  chooseToken,
  createModel,
  createTrainer,
  type Evaluation,
  type LabelledBatch,
  linearSchedule,
  type SamplingOptions,
  type SavedRun,
  type StepReport,
  saveCheckpoint,
} from '@tilewise/nn';
import { exportTorch } from '@tilewise/nn/torch';
import { type TrainConfig, trainConfig } from './config.ts';
import { batchOf, type Dataset } from './data/dataset.ts';
import { decoderOf, deviationOf } from './model.ts';
import { randomStream } from './random.ts';

/** The options of a run. */
export interface RunOptions<T extends TensorDesc> {
  readonly engine: TensorEngine<T>;
  readonly data: Dataset;
  readonly config?: Partial<TrainConfig>;
  /** Chooses the initial weights, the sequences and the dropout. */
  readonly seed?: number | bigint;
  /** A run to take up again; bit for bit if all else is as it was. */
  readonly from?: Pick<SavedRun, 'steps' | 'tensors'>;
}

/** A small transformer in training. One call at a time. */
export interface Run {
  readonly config: TrainConfig;
  readonly data: Dataset;
  readonly parameterCount: number;
  /** Steps done. */
  readonly steps: number;
  /** Does a step, on sequences that its number chooses. */
  step(): Promise<StepReport>;
  /** Loss and accuracy on sequences that it is not trained on, the same ones each time. */
  evaluate(batches?: number): Promise<Evaluation>;
  /**
   * The tokens that each token attends to: for each layer (heads, S, S), rows being distributions over the
   * tokens up to their own.
   * @throws InvalidArgumentError for no tokens, or more than the context.
   */
  attentionMaps(tokens: readonly number[]): Promise<Tensor[]>;
  /**
   * Continues a text, a character at a time. The last tokens are read, as many as the context holds.
   * @throws InvalidArgumentError for an empty prompt, and characters that the model has never seen.
   */
  generate(
    prompt: string,
    options: SamplingOptions & { readonly count: number },
  ): AsyncGenerator<string, void, void>;
  /** The run as a file, which `decodeCheckpoint` reads. */
  save(): Promise<Uint8Array>;
  /** A package of PyTorch that goes on with the run, with the batches of its next steps. */
  exportTorch(steps?: number): Promise<Record<string, string | Uint8Array>>;
  release(): void;
}

/** Constants of AdamW. */
const betas = [0.9, 0.98] as const;

/** Share of the steps over which the learning rate falls at the end. */
const FALL = 0.2;

/**
 * Readies a model and its training for an engine.
 * @throws InvalidArgumentError or InvalidShapeError for a configuration or parameters that do not fit.
 */
export function createRun<T extends TensorDesc>({
  engine,
  data,
  config: given,
  seed = 0,
  from,
}: RunOptions<T>): Run {
  const config = trainConfig(given);
  const { batch, context, learningRate: peak, warmup, weightDecay, maxNorm } = config;
  const { vocabulary } = data;
  const definition = decoderOf(config, vocabulary.characters.length);
  const model = createModel(definition, { engine, seed, deviation: deviationOf });
  const end = config.steps ?? 0;
  const falling = linearSchedule({ peak, warmup, steps: end, fallsFrom: Math.floor((1 - FALL) * end) });
  const trainer = createTrainer(model, {
    ...{ from, seed, accuracy: true, optimizer: { betas, weightDecay, maxNorm } },
    learningRate: end > 0 ? falling : n => peak * Math.min(1, warmup === 0 ? 1 : (n + 1) / warmup),
  });
  const draw = (purpose: 'training' | 'evaluation', n: number): LabelledBatch =>
    batchOf(
      data.draw(
        randomStream(seed, purpose, n),
        batch,
        context,
        purpose === 'training' ? purpose : 'held out',
      ),
    );

  return {
    config,
    data,
    parameterCount: model.parameterCount,
    get steps(): number {
      return trainer.steps;
    },
    step: (): Promise<StepReport> => trainer.step(draw('training', trainer.steps)),
    evaluate: (batches = 4): Promise<Evaluation> =>
      trainer.evaluate(Array.from({ length: batches }, (_, n) => draw('evaluation', n))),
    async attentionMaps(tokens: readonly number[]): Promise<Tensor[]> {
      const { length: S } = tokens;
      if (S === 0 || S > context)
        throw new InvalidArgumentError('tokens', `must be 1 to ${context}, got ${S}`);
      const layers = await model.attentionProbabilities({ tokens: [tokens] });
      return layers.map(layer => layer.reshape([config.heads, S, S]));
    },
    async *generate(
      prompt: string,
      { count, seed: own = seed, ...sampling }: SamplingOptions & { readonly count: number },
    ): AsyncGenerator<string, void, void> {
      const tokens = vocabulary.encode(prompt);
      if (tokens.length === 0) throw new InvalidArgumentError('prompt', 'is empty');
      for (let step = 0; step < count; step++) {
        const seen = tokens.slice(-context);
        // Tokens behind the last one, which none before them sees, give all sequences one shape.
        const padded = [...seen, ...new Array<number>(context - seen.length).fill(0)];
        const logits = (await model.logits({ tokens: [padded] })).toFloat32();
        const V = vocabulary.characters.length;
        const last = logits.subarray((seen.length - 1) * V, seen.length * V);
        const token = chooseToken(last, tokens, { ...sampling, seed: own }, { row: 0, step });
        tokens.push(token);
        yield vocabulary.decode([token]);
      }
    },
    save: (): Promise<Uint8Array> =>
      saveCheckpoint(trainer, {
        ...{ task: data.task, config: JSON.stringify(config), seed: `${seed}` },
        characters: JSON.stringify(vocabulary.characters),
      }),
    async exportTorch(steps = 200): Promise<Record<string, string | Uint8Array>> {
      const first = trainer.steps;
      const training = {
        ...{ steps: first + steps, lr: peak, warmup, decay: end > first ? end : 0 },
        ...{ betas: `${betas}`, eps: 1e-8, 'weight-decay': weightDecay, clip: maxNorm },
      };
      const batches = Array.from({ length: steps }, (_, n) => draw('training', first + n));
      return exportTorch(model, batches, { name: 'recall', training, seed, from: await trainer.snapshot() });
    },
    release(): void {
      trainer.release();
      model.release();
    },
  };
}
