import { compileEngineKernels } from '../kernels/engine-kernels.ts';
import { kernelModules } from '../kernels/host-kernels.ts';
import type { Variant } from '../kernels/variant.ts';
import { createPool, type Pool } from './pool.ts';

/** The workers of an engine, which start when they are first asked for. */
export interface Workers {
  /** Null if workers cannot be used; undefined before they have started. */
  readonly pool: Pool | null | undefined;
  /**
   * The workers if they have started, for a step that cannot wait for them; starts them at the first call.
   */
  now(): Pool | null;
  /** Starts the workers, if they have not been started, and waits for them. */
  started(): Promise<Pool | null>;
  /** Waits for workers that are starting, if there are any. */
  settled(): Promise<void>;
  /** Ends the workers for good. */
  giveUp(): void;
}

/** @param beforePass runs before each pass of the pool. */
export function createWorkers(threads: number, variant: Variant, beforePass: () => void): Workers {
  let pool: Pool | null | undefined;
  let starting: Promise<Pool | null> | null = null;

  async function started(): Promise<Pool | null> {
    starting ??= compileEngineKernels(variant).then(() => startPool(threads, variant, beforePass));
    const made = await starting;
    // The workers may have been given up in the meantime.
    if (pool === undefined) pool = made;
    return pool;
  }

  return {
    get pool() {
      return pool;
    },
    now() {
      // A failed start is reported to the call that waits for it.
      if (pool === undefined) started().catch(() => null);
      return pool ?? null;
    },
    started,
    async settled() {
      if (starting && pool === undefined) await started().catch(() => null);
    },
    giveUp() {
      pool?.terminate();
      pool = null;
    },
  };
}

/** Null if the package has no script for workers, or if the script cannot be loaded or started. */
async function startPool(threads: number, variant: Variant, beforePass: () => void): Promise<Pool | null> {
  try {
    // Loaded on demand, because it is as large as the engine.
    const { workerSource } = await import('./worker-source.ts');
    if (workerSource === null) return null;
    const setUp = { kind: 'set-up', variant, module: kernelModules.get(variant) } as const;
    return createPool(threads, workerSource, setUp, beforePass);
  } catch {
    return null;
  }
}
