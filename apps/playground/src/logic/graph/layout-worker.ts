import { type DrawingPlan, place } from './graph-layout.ts';

/** A drawing to place, and a number by which its answer is known. */
export interface LayoutRequest {
  readonly request: number;
  readonly plan: DrawingPlan;
}

self.addEventListener('message', ({ data }: MessageEvent<LayoutRequest>) => {
  self.postMessage({ request: data.request, placement: place(data.plan) });
});
