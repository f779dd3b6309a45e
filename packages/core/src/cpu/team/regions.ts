import { compiledModules } from '../kernels/engine-kernels.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { numberedModules } from '../loops/numbered-loops.ts';
import type { Pool } from '../threads/pool.ts';
import { announce, control, NEVER, queueAt } from './control.ts';

/**
 * The parallel regions of a team, one after the other. Workers that join a region share its memory and its
 * loops until the next one begins.
 */
export interface Regions {
  /** The number of the current region; 0 before the first. */
  readonly current: number;
  /** The numbers that the threads share; null before workers are first asked to join. */
  readonly shared: Int32Array | null;
  /**
   * Asks the workers that are not in the region to join. A new region begins if the kernels have memory or
   * loops that the workers do not know.
   * @returns the shared numbers; null if workers cannot share the memory of the kernels.
   */
  call(workers: Pool, kernels: Kernels): Int32Array | null;
  /** Ends the region, so that workers leave it and read their messages. */
  end(): void;
}

/** The memory that the workers of a region know, its size, and the number of loops that they know. */
interface KnownState {
  readonly memory: WebAssembly.Memory;
  readonly memoryNumber: number;
  readonly bytes: number;
  readonly loops: number;
}

export function createRegions(): Regions {
  const modules = numberedModules();
  /** The number of loops that have been sent to each worker. */
  const told: number[] = [];
  let shared: Int32Array | null = null;
  let current = 0;
  let known: KnownState | null = null;

  /** Begins a new region; the workers of the previous one leave. */
  function begin(numbers: Int32Array): void {
    current++;
    Atomics.store(numbers, control.region, current);
    announce(numbers, true);
  }

  return {
    get current() {
      return current;
    },
    get shared() {
      return shared;
    },
    call(workers, { wasm, variant, memory: { bytes } }) {
      const kernelModules = compiledModules(variant);
      if (!wasm?.shared || !kernelModules) return null;
      if (!shared) {
        shared = new Int32Array(new SharedArrayBuffer(4 * queueAt(workers.threads)));
        shared[control.threads] = workers.threads;
      }
      if (known?.memory !== wasm.memory || known.bytes !== bytes || known.loops !== modules.length) {
        const memoryNumber =
          known?.memory === wasm.memory ? known.memoryNumber : (known?.memoryNumber ?? 0) + 1;
        known = { memory: wasm.memory, memoryNumber, bytes, loops: modules.length };
        begin(shared);
      }
      for (let thread = 1; thread < workers.threads; thread++) {
        const joined = control.joined + thread - 1;
        if ([current, NEVER].includes(Atomics.load(shared, joined))) continue;
        Atomics.store(shared, joined, current);
        const firstLoop = told[thread] ?? 0;
        told[thread] = modules.length;
        const { memory, memoryNumber } = known;
        workers.tell(thread, {
          ...{ kind: 'region', shared, region: current, thread, memory, memoryNumber, kernelModules },
          ...{ firstLoop, loops: modules.slice(firstLoop) },
        });
      }
      return shared;
    },
    end() {
      if (shared && known) begin(shared);
    },
  };
}
