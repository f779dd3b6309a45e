/** A signal in shared memory that holds workers back until what they are to read is there. */
export type StartSignal = Int32Array;

export function createStartSignal(): StartSignal {
  return new Int32Array(new SharedArrayBuffer(4));
}

export function giveStartSignal(signal: StartSignal): void {
  Atomics.store(signal, 0, 1);
  Atomics.notify(signal, 0);
}

/** Blocks the thread; not for those that must stay free. */
export function awaitStartSignal(signal: StartSignal): void {
  Atomics.wait(signal, 0, 0);
}
