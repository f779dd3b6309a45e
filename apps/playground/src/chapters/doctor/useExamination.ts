import type { DeviceReport, MeasureSettings } from '@tilewise/device-report';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { WorkerEvent } from '../../logic/doctor/examination-worker.ts';
import { keepReport, keptReport } from '../../logic/doctor/kept-report.ts';

/** An examination so far. */
export interface Examination {
  readonly running: boolean;
  /** The settings that the visitor chose; null for a report of an earlier visit. */
  readonly settings: MeasureSettings | null;
  readonly report: DeviceReport | null;
  /** The current stage, and how much of it is done. */
  readonly progress: Extract<WorkerEvent, { readonly kind: 'progress' }> | null;
  /** The message of the error that ended the examination. */
  readonly failed: string | null;
}

/** The report of an earlier visit, if there is one. */
function earlier(): Examination {
  return { running: false, settings: null, report: keptReport(), progress: null, failed: null };
}

/** Examines the device in a worker, so that neither the page nor the clock waits for the other. */
export function useExamination(): {
  readonly examination: Examination;
  readonly start: (settings: MeasureSettings) => void;
  readonly stop: () => void;
} {
  const [examination, setExamination] = useState(earlier);
  const worker = useRef<Worker>(null);
  const end = useCallback((): void => {
    worker.current?.terminate();
    worker.current = null;
  }, []);
  useEffect(() => end, [end]);
  const { report, running } = examination;
  useEffect(() => {
    if (report && !running) keepReport(report);
  }, [report, running]);

  const start = (settings: MeasureSettings): void => {
    end();
    setExamination({ running: true, settings, report: null, progress: null, failed: null });
    const own = new Worker(new URL('../../logic/doctor/examination-worker.ts', import.meta.url), {
      type: 'module',
    });
    worker.current = own;
    const hear = (event: WorkerEvent): void => {
      if (worker.current !== own) return;
      setExamination(before => after(before, event));
      if (event.kind === 'done' || event.kind === 'failed') end();
    };
    own.addEventListener('message', ({ data }: MessageEvent<WorkerEvent>) => hear(data));
    own.addEventListener('error', ({ message }) => hear({ kind: 'failed', message }));
    own.postMessage(settings);
  };
  const stop = (): void => {
    end();
    setExamination(before => ({ ...before, running: false }));
  };
  return { examination, start, stop };
}

function after(before: Examination, event: WorkerEvent): Examination {
  switch (event.kind) {
    case 'progress':
      return { ...before, progress: event };
    case 'report':
      return { ...before, report: event.report };
    case 'done':
      return { ...before, running: false };
    case 'failed':
      return { ...before, running: false, failed: event.message };
  }
}
