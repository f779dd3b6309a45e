import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { setupKey, type TrainEvent, type TrainRequest, type TrainSetup } from '../../train/training.ts';
import { heard, type TrainingState, untrained } from './training-state.ts';

/** A run that is over. */
export interface PastRun {
  readonly key: string;
  readonly losses: readonly number[];
}

/** The page is drawn so often, however fast steps are. */
const drawMs = 100;
const pastRuns = 3;

/** Trains in a worker. Another setup ends the run; its curve stays to be compared with. */
export function useTraining(setup: TrainSetup): {
  readonly state: TrainingState;
  readonly past: readonly PastRun[];
  /** Goes on, or begins. */
  readonly run: (steps: number) => void;
  readonly pause: () => void;
  readonly startOver: () => void;
  readonly sample: (request: Omit<Extract<TrainRequest, { kind: 'sample' }>, 'kind'>) => void;
} {
  const [state, setState] = useState(untrained);
  const [past, setPast] = useState<readonly PastRun[]>([]);
  const worker = useRef<Worker>(null);
  const current = useRef<PastRun>({ key: '', losses: [] });
  const key = useMemo(() => setupKey(setup), [setup]);

  const startOver = useCallback(() => {
    worker.current?.terminate();
    worker.current = null;
    const { losses } = current.current;
    if (losses.length > 0) {
      const over = current.current;
      setPast(before => [...before, over].slice(-pastRuns));
    }
    current.current = { key: '', losses: [] };
    setState(untrained);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a run belongs to its setup.
  useEffect(() => startOver, [key, startOver]);

  const ask = (request: TrainRequest): void => worker.current?.postMessage(request);
  const begin = (): void => {
    const own = new Worker(new URL('../../train/train-worker.ts', import.meta.url), { type: 'module' });
    worker.current = own;
    current.current = { key, losses: [] };
    let waiting: TrainEvent[] = [];
    const draw = (): void => {
      const events = waiting;
      waiting = [];
      if (worker.current !== own) return;
      const losses = events.flatMap(event => (event.kind === 'step' ? [event.loss] : []));
      current.current = { key, losses: [...current.current.losses, ...losses] };
      setState(before => heard(before, events));
    };
    const hear = (event: TrainEvent): void => {
      if (waiting.push(event) === 1) setTimeout(draw, drawMs);
    };
    own.addEventListener('message', ({ data }: MessageEvent<TrainEvent>) => hear(data));
    own.addEventListener('error', ({ message }) => hear({ kind: 'failed', message }));
    setState({ ...untrained, status: 'running' });
    ask({ kind: 'begin', setup });
  };

  return {
    state,
    past,
    startOver,
    run(steps) {
      if (!worker.current) begin();
      setState(before => ({ ...before, status: 'running' }));
      ask({ kind: 'run', steps });
    },
    pause: () => ask({ kind: 'pause' }),
    sample(request) {
      setState(before => ({ ...before, sample: { text: '', done: false }, refused: null }));
      ask({ kind: 'sample', ...request });
    },
  };
}
