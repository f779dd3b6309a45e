import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import * as nn from '@tilewise/nn';
import { exportTorch } from '@tilewise/nn/torch';
import { type TrainConfig, trainConfig } from './config.ts';
import type { Dataset } from './data/dataset.ts';
import { decoderOf, deviationOf } from './model.ts';
import { randomStream } from './random.ts';

/** The options of a run. */
export interface RunOptions<T extends TensorDesc> {
  readonly engine: TensorEngine<T>;
  readonly data: Dataset;
  readonly config?: Partial<TrainConfig>;
  /** Decides the initial weights, the sequences and the dropout. */
  readonly seed?: number | bigint;
  /** A run to resume; it continues bit for bit if nothing else has changed. */
  readonly from?: Pick<nn.SavedRun, 'steps' | 'tensors'>;
}

/** A small transformer in training. Call one method at a time. */
export interface Run {
  readonly config: TrainConfig;
  readonly data: Dataset;
  readonly model: Pick<nn.Model, 'parameterCount' | 'attentionProbabilities'>;
  /** The number of finished steps. */
  readonly steps: number;
  /** Runs a step, on sequences that depend on the step's number. */
  step(): Promise<nn.StepReport>;
  /** Loss and accuracy on sequences that the model is not trained on, the same ones each time. */
  evaluate(batches?: number): Promise<nn.Evaluation>;
  /** Continues a text one character at a time, from the last tokens that fit into the context. */
  generate(
    prompt: string,
    options: nn.SamplingOptions & { readonly count: number },
  ): AsyncGenerator<string, void, void>;
  /** The run as a file, which `decodeCheckpoint` reads. */
  save(): Promise<Uint8Array>;
  /** A PyTorch package that continues the run, with the batches of its next steps. */
  exportTorch(steps?: number): Promise<Record<string, string | Uint8Array>>;
  release(): void;
}

const betas = [0.9, 0.98] as const;
/** The share of the steps, at the end, over which the learning rate falls. */
const FALL = 0.2;

/**
 * Creates a model and its training on an engine.
 * @throws InvalidArgumentError or InvalidShapeError for a configuration or parameters that do not fit.
 */
export function createRun<T extends TensorDesc>(options: RunOptions<T>): Run {
  const { engine, data, seed = 0, from } = options;
  const config = trainConfig(options.config);
  const { batch, context, learningRate: peak, warmup, weightDecay, maxNorm, steps } = config;
  const { vocabulary } = data;
  const V = vocabulary.characters.length;
  const model = nn.createModel(decoderOf(config, V), { engine, seed, deviation: deviationOf });
  const fallsFrom = steps && Math.floor((1 - FALL) * steps);
  const trainer = nn.createTrainer(model, {
    ...{ from, seed, accuracy: true, optimizer: { betas, weightDecay, maxNorm } },
    learningRate: nn.linearSchedule({ peak, warmup, steps, fallsFrom }),
  });
  const draw = (part: 'training' | 'held out', n: number): nn.LabelledBatch => {
    const random = randomStream(seed, part === 'training' ? 'training' : 'evaluation', n);
    const { tokens, labels } = data.draw(random, batch, context, part);
    return { inputs: { tokens }, labels };
  };

  return {
    ...{ config, data, model },
    get steps(): number {
      return trainer.steps;
    },
    step: () => trainer.step(draw('training', trainer.steps)),
    evaluate: (batches = 4) =>
      trainer.evaluate(Array.from({ length: batches }, (_, n) => draw('held out', n))),
    async *generate(prompt, { count, seed: own = seed, ...sampling }) {
      const tokens = vocabulary.encode(prompt);
      if (tokens.length === 0) throw new InvalidArgumentError('prompt', 'is empty');
      for (let step = 0; step < count; step++) {
        const seen = tokens.slice(-context);
        // Padding tokens after the last one, which no earlier token sees, give all sequences one shape.
        const padded = [...seen, ...new Array<number>(context - seen.length).fill(0)];
        const logits = (await model.logits({ tokens: [padded] })).toFloat32();
        const last = logits.subarray((seen.length - 1) * V, seen.length * V);
        const token = nn.chooseToken(last, tokens, { ...sampling, seed: own }, { row: 0, step });
        tokens.push(token);
        yield vocabulary.decode([token]);
      }
    },
    save: () =>
      nn.saveCheckpoint(trainer, {
        ...{ task: data.task, config: JSON.stringify(config), seed: `${seed}` },
        characters: JSON.stringify(vocabulary.characters),
      }),
    async exportTorch(count = 200) {
      const first = trainer.steps;
      const training = {
        ...{ steps: first + count, lr: peak, warmup, decay: steps && steps > first ? steps : 0 },
        ...{ betas: `${betas}`, eps: 1e-8, 'weight-decay': weightDecay, clip: maxNorm },
      };
      const batches = Array.from({ length: count }, (_, n) => draw('training', first + n));
      return exportTorch(model, batches, { name: 'recall', training, seed, from: await trainer.snapshot() });
    },
    release() {
      trainer.release();
      model.release();
    },
  };
}
