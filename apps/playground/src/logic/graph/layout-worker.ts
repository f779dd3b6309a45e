import { type DrawingPlan, place } from './graph-layout.ts';

/** A drawing to lay out, and a number that identifies the answer. */
export interface LayoutRequest {
  readonly request: number;
  readonly plan: DrawingPlan;
}

self.addEventListener('message', ({ data }: MessageEvent<LayoutRequest>) => {
  self.postMessage({ request: data.request, placement: place(data.plan) });
});
