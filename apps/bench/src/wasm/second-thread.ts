import { Worker } from 'node:worker_threads';

/** A second thread that computes the same product again and again while it is switched on. */
export interface SecondThread {
  /** The number of runs so far. */
  runs(): number;
  /** Starts the thread's work and waits until it runs, or pauses it. */
  work(yes: boolean): void;
  end(): Promise<unknown>;
}

const source = `
const { workerData: { module, sizes, state } } = require('node:worker_threads');
const { matmul } = new WebAssembly.Instance(module).exports;
for (;;) {
  Atomics.wait(state, 0, 0);
  matmul(...sizes);
  Atomics.add(state, 1, 1);
}`;

/** Starts a thread for the `matmul` of a module, with its sizes and addresses. */
export function startSecondThread(module: WebAssembly.Module, sizes: readonly number[]): SecondThread {
  const state = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(source, { eval: true, workerData: { module, sizes, state } });
  const runs = (): number => Atomics.load(state, 1);
  return {
    runs,
    work(yes) {
      Atomics.store(state, 0, yes ? 1 : 0);
      Atomics.notify(state, 0);
      const before = runs();
      // The first run compiles.
      if (yes) while (runs() < before + 20) Atomics.wait(state, 1, runs(), 1);
    },
    end: () => worker.terminate(),
  };
}
