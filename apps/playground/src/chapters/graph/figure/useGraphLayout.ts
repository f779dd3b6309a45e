import { useEffect, useRef, useState } from 'react';
import { type GraphDrawing, type GraphLayout, laidOut } from '../../../logic/graph/graph-drawing.ts';
import type { Placement } from '../../../logic/graph/graph-layout.ts';
import type { LayoutRequest } from '../../../logic/graph/layout-worker.ts';

/**
 * Lays out a drawing in a worker. Until the worker is done, the hook returns the previous layout, or null at
 * first.
 */
export function useGraphLayout(drawing: GraphDrawing): GraphLayout | null {
  const [done, setDone] = useState<GraphLayout | null>(null);
  const worker = useRef<Worker>(null);
  const request = useRef(0);
  useEffect(
    () => () => {
      worker.current?.terminate();
      worker.current = null;
    },
    [],
  );
  useEffect(() => {
    worker.current ??= new Worker(new URL('../../../logic/graph/layout-worker.ts', import.meta.url), {
      type: 'module',
    });
    const own = worker.current;
    const current = ++request.current;
    const finish = ({ data }: MessageEvent<{ request: number; placement: Placement }>): void => {
      if (data.request === current) setDone(laidOut(drawing, data.placement));
    };
    own.addEventListener('message', finish);
    own.postMessage({ request: current, plan: drawing.plan } satisfies LayoutRequest);
    return () => own.removeEventListener('message', finish);
  }, [drawing]);
  return done;
}
