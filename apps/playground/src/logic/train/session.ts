import type { TensorEngine } from '@tilewise/core/primitive';
import {
  createRun,
  type Dataset,
  type Run,
  randomStream,
  recallDataset,
  textDataset,
} from '@tilewise/example-train';
import {
  type AttentionMoment,
  lookEvery,
  type TrainEvent,
  type TrainRequest,
  type TrainSetup,
} from './training.ts';

const context = 24;

/** A run that handles one request after the other. */
export interface Session {
  /** The facts that are sent first. */
  readonly parameters: number;
  readonly probe: readonly string[];
  /** Takes a request; the results are sent to `tell`. */
  take(request: Exclude<TrainRequest, { kind: 'begin' }>): void;
  /** Resolves when nothing is left to do. */
  idle(): Promise<void>;
}

/**
 * Begins a run. Its steps depend on the setup alone: pauses and questions in between do not change them.
 * @param tell receives every event of the run.
 * @throws the trainer's errors: a text that is too short, a width that is not a multiple of the heads.
 */
export function beginSession(
  setup: TrainSetup,
  engine: TensorEngine,
  tell: (event: TrainEvent) => void,
): Session {
  const { seed, layers, heads, dim, dropout } = setup;
  const data = setup.text === null ? recallDataset() : textDataset(setup.text);
  const config = { layers, heads, dim, dropout, context, ...(setup.text !== null && textConfig) };
  const trainer = createRun({ engine, data, config, seed });
  const tokens = probeTokens(data, seed);
  const probe = [...data.vocabulary.decode(tokens)];
  let left = 0;
  const questions: Extract<TrainRequest, { kind: 'sample' }>[] = [];
  let working: Promise<void> | null = null;

  async function work(): Promise<void> {
    if (trainer.steps === 0) tell(await moment(trainer, tokens));
    for (;;) {
      const question = questions.shift();
      if (question) await answer(trainer, data.vocabulary.characters, question, tell);
      else if (left > 0) {
        left--;
        await step(trainer, tokens, tell);
        if (left === 0) tell({ kind: 'paused' });
      } else return;
      // Handles requests that came in the meantime.
      await new Promise(resolve => setTimeout(resolve));
    }
  }

  return {
    parameters: trainer.model.parameterCount,
    probe,
    take(request) {
      if (request.kind === 'run') left = request.steps;
      else if (request.kind === 'sample') questions.push(request);
      else if (left > 0) {
        left = 0;
        tell({ kind: 'paused' });
      }
      working ??= work()
        .catch((error: unknown) => {
          left = 0;
          tell({ kind: 'failed', message: messageOf(error) });
        })
        .finally(() => {
          working = null;
        });
    },
    idle: async () => {
      await working;
    },
  };
}

/** A short warm-up: the model learns letters and their frequencies at once. */
const textConfig = { batch: 16, warmup: 5 };

/** The sequence whose attention is shown; the model is not trained on it. */
function probeTokens(data: Dataset, seed: number): readonly number[] {
  return data.draw(randomStream(seed, 'picture'), 1, context, 'held out').tokens[0];
}

async function step(
  trainer: Run,
  tokens: readonly number[],
  tell: (event: TrainEvent) => void,
): Promise<void> {
  const start = performance.now();
  const { loss, accuracy = 0 } = await trainer.step();
  tell({ kind: 'step', loss, accuracy, ms: performance.now() - start });
  if (trainer.steps % lookEvery !== 0) return;
  tell(await moment(trainer, tokens));
  const { loss: heldLoss, accuracy: held = 0 } = await trainer.evaluate(1);
  tell({ kind: 'held out', step: trainer.steps, loss: heldLoss, accuracy: held });
}

async function moment(trainer: Run, tokens: readonly number[]): Promise<TrainEvent> {
  const maps = await trainer.model.attentionProbabilities({ tokens: [tokens] });
  const layers = maps.map(map => {
    const [, heads = 1, S = 1] = map.shape;
    return { heads, S, values: map.toFloat32() };
  });
  const at: AttentionMoment = { step: trainer.steps, layers };
  return { kind: 'maps', moment: at };
}

async function answer(
  trainer: Run,
  known: readonly string[],
  { prompt, count, temperature }: Extract<TrainRequest, { kind: 'sample' }>,
  tell: (event: TrainEvent) => void,
): Promise<void> {
  const unknown = [...new Set(prompt)].filter(character => !known.includes(character));
  if (unknown.length > 0) {
    tell({ kind: 'refused', unknown });
    return;
  }
  let text = '';
  for await (const character of trainer.generate(prompt, { count, temperature })) {
    text += character;
    tell({ kind: 'sampled', prompt, text, done: false });
  }
  tell({ kind: 'sampled', prompt, text, done: true });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
