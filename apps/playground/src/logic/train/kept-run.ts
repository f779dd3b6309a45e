import type { TrainSetup } from './training.ts';

/** The part of a run that this browser keeps: enough to draw its curves, and to do its steps again. */
export interface KeptRun {
  readonly setup: TrainSetup;
  readonly losses: readonly number[];
  readonly accuracies: readonly number[];
  readonly heldOut: readonly { readonly step: number; readonly loss: number; readonly accuracy: number }[];
}

const storageKey = 'tilewise.training';

const areNumbers = (values: unknown): boolean =>
  Array.isArray(values) && values.every(value => typeof value === 'number');

/** The kept run; null where there is none, where storage is forbidden, and where the entry is not ours. */
export function readKeptRun(): KeptRun | null {
  try {
    const run = JSON.parse(localStorage.getItem(storageKey) ?? 'null') as KeptRun | null;
    const whole =
      run !== null && typeof run.setup === 'object' && areNumbers(run.losses) && areNumbers(run.accuracies);
    return whole && Array.isArray(run.heldOut) ? run : null;
  } catch {
    return null;
  }
}

/** Keeps a run in place of the last one; null forgets it. */
export function writeKeptRun(run: KeptRun | null): void {
  try {
    if (run === null) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, JSON.stringify(run));
  } catch {
    // A full or forbidden storage: the run lasts as long as the page.
  }
}
