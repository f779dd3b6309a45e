import type { TrainSetup } from './training.ts';

/** The part of a run that this browser stores: enough to draw its curves, and to repeat its steps. */
export interface KeptRun {
  readonly setup: TrainSetup;
  readonly losses: readonly number[];
  readonly accuracies: readonly number[];
  readonly heldOut: readonly { readonly step: number; readonly loss: number; readonly accuracy: number }[];
}

const storageKey = 'tilewise.training';

const areNumbers = (values: unknown): boolean =>
  Array.isArray(values) && values.every(value => typeof value === 'number');

/**
 * The stored run; null if there is none, if storage is forbidden, or if the entry was not written by this
 * page.
 */
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

/** Stores a run in place of the last one; null deletes it. */
export function writeKeptRun(run: KeptRun | null): void {
  try {
    if (run === null) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, JSON.stringify(run));
  } catch {
    // Storage is full or forbidden: the run lasts as long as the page.
  }
}
