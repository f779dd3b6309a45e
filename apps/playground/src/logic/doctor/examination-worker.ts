import type { MeasureSettings } from '@tilewise/device-report';
import { type ExaminationEvent, examineDevice } from '@tilewise/device-report/measure';

/** A message to the page from the worker that examines the device. */
export type WorkerEvent =
  | ExaminationEvent
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };

const tell = (event: WorkerEvent): void => postMessage(event);

addEventListener('message', async ({ data }: MessageEvent<MeasureSettings>) => {
  try {
    await examineDevice(data, { name: navigator.userAgent }, tell);
    tell({ kind: 'done' });
  } catch (error) {
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
});
