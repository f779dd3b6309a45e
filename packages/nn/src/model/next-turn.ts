/**
 * Resolves in the next turn of the event loop, after the host has handled timers, clicks and messages of
 * workers. Engines on the host never wait, so without these turns a loop of calls freezes a page, and no
 * signal can end the loop.
 */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    // `setTimeout` waits for a millisecond in Node, and for four in browsers when timers are nested.
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
