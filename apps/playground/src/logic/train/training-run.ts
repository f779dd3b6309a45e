import { type KeptRun, readKeptRun, writeKeptRun } from './kept-run.ts';
import { setupKey, type TrainEvent, type TrainRequest, type TrainSetup } from './training.ts';
import { heard, restored, type TrainingState, untrained } from './training-state.ts';

/** A run that is over. */
export interface PastRun {
  readonly key: string;
  readonly losses: readonly number[];
}

/** The runs in the figure: the current run and the previous ones. */
export interface TrainingView {
  readonly state: TrainingState;
  readonly past: readonly PastRun[];
}

/** Training in a worker, which goes on whether or not a chapter shows it. */
export interface Training {
  readonly view: () => TrainingView;
  readonly subscribe: (listener: () => void) => () => void;
  /** Continues for the given number of steps, or begins with a setup. */
  readonly run: (setup: TrainSetup, steps: number) => void;
  readonly pause: () => void;
  /** Ends the run; its curve stays for comparison. */
  readonly startOver: () => void;
  readonly sample: (request: Omit<Extract<TrainRequest, { kind: 'sample' }>, 'kind'>) => void;
}

/** The interval at which the page is drawn, however fast steps are. */
const drawMs = 100;
const pastRuns = 3;

const keeping = { read: readKeptRun, write: writeKeptRun };
const forgetting = { read: (): null => null, write: (_: KeptRun | null): void => {} };

/** Prepares training; `kept` runs survive a reload of the page. Nothing is loaded before a run begins. */
export function createTraining({ kept }: { readonly kept: boolean }): Training {
  const storage = kept ? keeping : forgetting;
  const before = storage.read();
  let view: TrainingView = { state: before ? restored(before) : untrained, past: [] };
  let worker: Worker | null = null;
  const listeners = new Set<() => void>();
  const show = (next: Partial<TrainingView>): void => {
    view = { ...view, ...next };
    for (const listener of listeners) listener();
  };
  const ask = (request: TrainRequest): void => worker?.postMessage(request);

  const begin = (setup: TrainSetup): void => {
    const own = new Worker(new URL('./train-worker.ts', import.meta.url), { type: 'module' });
    worker = own;
    let waiting: TrainEvent[] = [];
    const draw = (): void => {
      const events = waiting;
      waiting = [];
      if (worker !== own) return;
      const state = heard(view.state, events);
      show({ state });
      const { losses, accuracies, heldOut } = state;
      storage.write({ setup, losses, accuracies, heldOut });
    };
    const hear = (event: TrainEvent): void => {
      if (waiting.push(event) === 1) setTimeout(draw, drawMs);
    };
    own.addEventListener('message', ({ data }: MessageEvent<TrainEvent>) => hear(data));
    own.addEventListener('error', ({ message }) => hear({ kind: 'failed', message }));
    ask({ kind: 'begin', setup });
  };

  return {
    view: () => view,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    run(wanted, steps) {
      const { state } = view;
      const setup = state.setup ?? wanted;
      if (!worker) begin(setup);
      show({ state: { ...state, setup, status: 'running' } });
      ask({ kind: 'run', steps: state.again + steps });
    },
    pause: () => ask({ kind: 'pause' }),
    startOver() {
      worker?.terminate();
      worker = null;
      const { setup, losses } = view.state;
      const over = setup && losses.length > 0 ? [{ key: setupKey(setup), losses }] : [];
      storage.write(null);
      show({ state: untrained, past: [...view.past, ...over].slice(-pastRuns) });
    },
    sample(request) {
      show({
        state: { ...view.state, sample: { prompt: request.prompt, text: '', done: false }, refused: null },
      });
      ask({ kind: 'sample', ...request });
    },
  };
}
