/**
 * Resolves when the host has handled the events that wait: timers, clicks, and messages of workers. Engines
 * on the host compute without waiting, so a loop of calls would let a page freeze and no timer end the loop.
 */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    // Timers wait for a millisecond or more.
    const { setImmediate } = globalThis as { setImmediate?: (done: () => void) => void };
    if (setImmediate) {
      setImmediate(resolve);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
