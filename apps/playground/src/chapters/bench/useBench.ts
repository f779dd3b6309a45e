import { useCallback, useEffect, useRef, useState } from 'react';
import type { BenchConfig, BenchEvent, BenchMachine, BenchRow } from '../../bench/bench.ts';

/** A measurement so far. */
export interface BenchState {
  readonly running: boolean;
  readonly config: BenchConfig;
  readonly machine: BenchMachine | null;
  readonly rows: readonly BenchRow[];
  readonly done: number;
  readonly total: number;
  /** The message of the error that ended it. */
  readonly failed: string | null;
}

/** Measures in a worker, so that neither the page nor the clock waits for the other. */
export function useBench(): {
  readonly state: BenchState | null;
  readonly start: (config: BenchConfig) => void;
  readonly stop: () => void;
} {
  const [state, setState] = useState<BenchState | null>(null);
  const worker = useRef<Worker>(null);
  const end = useCallback((): void => {
    worker.current?.terminate();
    worker.current = null;
  }, []);
  useEffect(() => end, [end]);

  const start = (config: BenchConfig): void => {
    end();
    setState({ running: true, config, machine: null, rows: [], done: 0, total: 0, failed: null });
    const own = new Worker(new URL('../../bench/bench-worker.ts', import.meta.url), { type: 'module' });
    worker.current = own;
    const hear = (event: BenchEvent): void => {
      if (worker.current !== own) return;
      setState(before => before && after(before, event));
      if (event.kind === 'done' || event.kind === 'failed') end();
    };
    own.addEventListener('message', ({ data }: MessageEvent<BenchEvent>) => hear(data));
    own.addEventListener('error', ({ message }) => hear({ kind: 'failed', message }));
    own.postMessage(config);
  };
  const stop = (): void => {
    end();
    setState(before => before && { ...before, running: false });
  };
  return { state, start, stop };
}

function after(state: BenchState, event: BenchEvent): BenchState {
  switch (event.kind) {
    case 'machine':
      return { ...state, machine: event.machine };
    case 'row':
      return { ...state, rows: [...state.rows, event.row], done: event.done, total: event.total };
    case 'done':
      return { ...state, running: false };
    case 'failed':
      return { ...state, running: false, failed: event.message };
  }
}
