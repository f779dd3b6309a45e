/**
 * Browsers refuse to change the address too often: Safari allows 100 changes in 30 s. Ten writes in a row are
 * written at once, and then one every 400 ms, which is 85 in 30 s.
 */
const burst = 10;
const interval = 400;

/** Writes values, the latest of those that come in quick succession. */
export interface SpacedWrites<T> {
  write(value: T): void;
  /** Drops the value that has not been written yet. */
  cancel(): void;
}

/**
 * Writes a value at the end of the current event, so that a page that is reloaded right after a click finds
 * it; after many writes in a row, some time later.
 */
export function spacedWrites<T>(write: (value: T) => void): SpacedWrites<T> {
  let pending: { readonly value: T } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isScheduled = false;
  /** The number of writes that are allowed at once, at the time `since`. */
  let allowed = burst;
  let since = 0;
  const flush = (): void => {
    isScheduled = false;
    if (!pending) return;
    const { value } = pending;
    pending = undefined;
    allowed--;
    write(value);
  };
  return {
    write(value) {
      pending = { value };
      if (isScheduled) return;
      isScheduled = true;
      const now = performance.now();
      allowed = Math.min(burst, allowed + (now - since) / interval);
      since = now;
      if (allowed >= 1) queueMicrotask(flush);
      else timer = setTimeout(flush, (1 - allowed) * interval);
    },
    cancel() {
      pending = undefined;
      isScheduled = false;
      clearTimeout(timer);
    },
  };
}
