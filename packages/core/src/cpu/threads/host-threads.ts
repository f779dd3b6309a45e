import type { Message, Reply } from './message.ts';

/** A worker on any host. */
export interface HostWorker {
  post(message: Message): void;
  /** Sets whether the process must wait for the worker. */
  keepAlive(yes: boolean): void;
  terminate(): void;
}

export interface WorkerEvents {
  onReply(reply: Reply): void;
  /** Called if the worker could not start, or has died. */
  onFailure(reason: string): void;
}

interface NodeWorker {
  on(event: 'message', listener: (reply: Reply) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  on(event: 'exit', listener: (code: number) => void): void;
  postMessage(message: Message): void;
  ref(): void;
  unref(): void;
  terminate(): unknown;
}

interface NodeModules {
  readonly 'node:worker_threads': {
    readonly Worker: new (source: string, options: { readonly eval: true }) => NodeWorker;
  };
  readonly 'node:os': { availableParallelism(): number };
}

/**
 * A Node module, without an import that bundlers for browsers would have to resolve; undefined on other
 * hosts.
 */
function nodeModule<N extends keyof NodeModules>(name: N): NodeModules[N] | undefined {
  const { process } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
  };
  return process?.getBuiltinModule?.(name) as NodeModules[N] | undefined;
}

/** The maximum number of threads by default: more threads would wait for memory more than they compute. */
const MAX_DEFAULT_THREADS = 16;

/** Whether threads can share memory on this host; false on pages that are not cross-origin isolated. */
export function canShareMemory(): boolean {
  if (typeof SharedArrayBuffer === 'undefined') return false;
  if (nodeModule('node:worker_threads')) return true;
  return globalThis.crossOriginIsolated && typeof Worker === 'function';
}

/** The default number of threads: as many as this host runs in parallel, at most `MAX_DEFAULT_THREADS`. */
export function hostThreads(): number {
  const cores =
    nodeModule('node:os')?.availableParallelism() ?? globalThis.navigator?.hardwareConcurrency ?? 1;
  return Math.min(cores, MAX_DEFAULT_THREADS);
}

/** Starts a worker from the text of its script. */
export function startWorker(source: string, events: WorkerEvents): HostWorker {
  const node = nodeModule('node:worker_threads');
  return node ? startNodeWorker(node.Worker, source, events) : startWebWorker(source, events);
}

function startNodeWorker(
  Worker: NodeModules['node:worker_threads']['Worker'],
  source: string,
  { onReply, onFailure }: WorkerEvents,
): HostWorker {
  const worker = new Worker(source, { eval: true });
  worker.on('message', onReply);
  worker.on('error', error => onFailure(error.message));
  worker.on('exit', code => onFailure(`a worker exited with code ${code}`));
  worker.unref();
  return {
    post: message => worker.postMessage(message),
    keepAlive: yes => (yes ? worker.ref() : worker.unref()),
    terminate: () => worker.terminate(),
  };
}

function startWebWorker(source: string, { onReply, onFailure }: WorkerEvents): HostWorker {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const worker = new Worker(url);
  worker.onmessage = event => onReply(event.data);
  worker.onerror = event => onFailure(event.message ?? 'a worker could not be started');
  return {
    post: message => worker.postMessage(message),
    keepAlive: () => {},
    terminate() {
      worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}
