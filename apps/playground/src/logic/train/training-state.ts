import type { KeptRun } from './kept-run.ts';
import type { AttentionMoment, TrainEvent, TrainSetup } from './training.ts';

/** A run, as far as the page knows it. */
export interface TrainingState {
  readonly status: 'idle' | 'running' | 'paused' | 'failed';
  /** The setup of the run; null before a run begins. */
  readonly setup: TrainSetup | null;
  readonly ready: Extract<TrainEvent, { kind: 'ready' }> | null;
  readonly losses: readonly number[];
  readonly accuracies: readonly number[];
  /**
   * Steps that the run had done before the page was reloaded and that the model has yet to repeat; their
   * losses are known already.
   */
  readonly again: number;
  /** Measured on sequences that the model is not trained on. */
  readonly heldOut: KeptRun['heldOut'];
  readonly moments: readonly AttentionMoment[];
  /** The time of the latest step, in milliseconds. */
  readonly ms: number;
  /** The last prompt, and the text that continues it. */
  readonly sample: { readonly prompt: string; readonly text: string; readonly done: boolean } | null;
  /** The characters of the last prompt that the model has never seen; null if it could read the prompt. */
  readonly refused: readonly string[] | null;
  readonly failed: string | null;
}

export const untrained: TrainingState = {
  status: 'idle',
  setup: null,
  ready: null,
  losses: [],
  accuracies: [],
  again: 0,
  heldOut: [],
  moments: [],
  ms: 0,
  sample: null,
  refused: null,
  failed: null,
};

/** The state of a stored run: paused, with all its steps to be repeated. */
export const restored = (run: KeptRun): TrainingState => ({
  ...untrained,
  ...run,
  status: 'paused',
  again: run.losses.length,
});

/** The state after some events. */
export function heard(state: TrainingState, events: readonly TrainEvent[]): TrainingState {
  const steps = events.filter(event => event.kind === 'step');
  const repeated = Math.min(state.again, steps.length);
  const added = steps.slice(repeated);
  const next = {
    ...state,
    again: state.again - repeated,
    losses: [...state.losses, ...added.map(({ loss }) => loss)],
    accuracies: [...state.accuracies, ...added.map(({ accuracy }) => accuracy)],
    ms: steps.at(-1)?.ms ?? state.ms,
  };
  return events.reduce(withEvent, next);
}

function withEvent(state: TrainingState, event: TrainEvent): TrainingState {
  switch (event.kind) {
    case 'step':
      return state;
    case 'ready':
      return { ...state, ready: event };
    case 'maps':
      return { ...state, moments: [...state.moments, event.moment] };
    case 'held out':
      return event.step <= (state.heldOut.at(-1)?.step ?? 0)
        ? state
        : { ...state, heldOut: [...state.heldOut, event] };
    case 'paused':
      return { ...state, status: 'paused' };
    case 'sampled':
      return {
        ...state,
        sample: { prompt: event.prompt, text: event.text, done: event.done },
        refused: null,
      };
    case 'refused':
      return { ...state, sample: null, refused: event.unknown };
    case 'failed':
      return { ...state, status: 'failed', failed: event.message };
  }
}

/** How many of the first steps have losses that are equal in two runs, bit for bit. */
export function stepsAlike(a: readonly number[], b: readonly number[]): number {
  const shared = Math.min(a.length, b.length);
  for (let n = 0; n < shared; n++) if (!Object.is(a[n], b[n])) return n;
  return shared;
}
