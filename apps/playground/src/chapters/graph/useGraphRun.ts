import { useCallback, useEffect, useRef, useState } from 'react';
import type { EngineChoice } from '../../engine/tensor-engine.ts';
import type { GraphSource } from '../../logic/graph/report.ts';
import type { RunAnswer, RunRequest } from '../../logic/graph/run-worker.ts';

/** The outcome of a run. */
export type GraphRunState = { readonly kind: 'idle' } | { readonly kind: 'running' } | RunAnswer;

/** Runs a graph in a worker, so that the page stays responsive; another graph ends the run. */
export function useGraphRun(source: GraphSource): {
  readonly state: GraphRunState;
  readonly start: (engine: EngineChoice) => void;
  readonly stop: () => void;
} {
  const [state, setState] = useState<GraphRunState>({ kind: 'idle' });
  const worker = useRef<Worker>(null);
  const stop = useCallback(() => {
    worker.current?.terminate();
    worker.current = null;
    setState({ kind: 'idle' });
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another graph ends the run.
  useEffect(() => stop, [source, stop]);
  const start = (engine: EngineChoice): void => {
    stop();
    setState({ kind: 'running' });
    const own = new Worker(new URL('../../logic/graph/run-worker.ts', import.meta.url), { type: 'module' });
    worker.current = own;
    const finish = (answer: RunAnswer): void => {
      if (worker.current !== own) return;
      own.terminate();
      worker.current = null;
      setState(answer);
    };
    own.addEventListener('message', ({ data }: MessageEvent<RunAnswer>) => finish(data));
    own.addEventListener('error', ({ message }) => finish({ kind: 'failed', message }));
    own.postMessage({ source, engine } satisfies RunRequest);
  };
  return { state, start, stop };
}
