import type { WorkTrace } from '@tilewise/core/engine';

/** Runs work, and names it in a trace until it has finished or failed. */
export function traced<R>(
  trace: WorkTrace | undefined,
  name: string,
  work: () => Promise<R> | R,
): Promise<R> | R {
  if (!trace) return work();
  const leave = trace.enter(name);
  let done: Promise<R> | R | undefined;
  try {
    done = work();
    return done instanceof Promise ? done.finally(leave) : done;
  } finally {
    if (!(done instanceof Promise)) leave();
  }
}
