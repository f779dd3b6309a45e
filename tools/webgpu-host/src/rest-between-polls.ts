/** How long the main thread rests before a poll, in milliseconds. */
export const restMs = 0.1;

const marker = Symbol.for('@tilewise/webgpu-host/rests');

/**
 * Makes the main thread rest before each of Dawn's polls. Dawn asks whether work is done in every turn of
 * Node's event loop as long as anything is awaited. This keeps a processor busy that a software adapter could
 * use to compile and compute.
 *
 * Dawn takes `setImmediate` from `globalThis` for every poll, and passes it a native function. Other tasks
 * run as before. The change lasts until the process ends.
 */
export function restBetweenPolls(): void {
  if (marker in globalThis.setImmediate) return;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  globalThis.setImmediate = new Proxy(Object.assign(globalThis.setImmediate, { [marker]: true }), {
    apply(schedule, _, [task, ...args]: Parameters<typeof setImmediate>) {
      if (!isNative(task)) return schedule(task, ...args);
      return schedule(() => {
        Atomics.wait(clock, 0, 0, restMs);
        task();
      });
    },
  });
}

const isNative = (task: unknown): boolean => String(task).endsWith('{ [native code] }');
