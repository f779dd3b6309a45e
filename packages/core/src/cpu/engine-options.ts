import {
  checkOneOf,
  checkOptions,
  describeValue,
  InvalidArgumentError,
  UnsupportedError,
} from '../errors.ts';
import { bestVariant, supportedVariants } from './kernels/host-kernels.ts';
import { type Variant, variants } from './kernels/variant.ts';
import { MAX_THREADS } from './kernels/wasm/wasm-kernels.ts';
import { canShareMemory, hostThreads } from './threads/host-threads.ts';

/**
 * Options of the CPU engine. Results do not depend on `threads`, and depend on `variant` only by rounding.
 */
export interface CpuEngineOptions {
  /**
   * The threads that share a large problem, 1 to 64; default: one per core, at most 16. With 1, or if threads
   * cannot share memory, everything runs on the calling thread.
   */
  readonly threads?: number | undefined;
  /** The variant of the kernels; default: the fastest whose instructions this host supports. */
  readonly variant?: Variant | undefined;
}

/**
 * The options with defaults for what is not given.
 * @throws as `cpuEngine`.
 */
export function checkedOptions(options: CpuEngineOptions): {
  readonly variant: Variant;
  readonly threads: number;
} {
  checkOptions('options', options, ['threads', 'variant']);
  return { variant: checkVariant(options.variant), threads: checkThreads(options.threads) };
}

function checkVariant(variant: Variant = bestVariant()): Variant {
  checkOneOf('variant', variant, variants);
  if (!supportedVariants().includes(variant)) {
    throw new UnsupportedError('cpu', [
      `this host lacks the instructions of ${variant}, or its content security policy forbids WebAssembly: leave out variant`,
    ]);
  }
  return variant;
}

function checkThreads(threads: number = hostThreads()): number {
  if (!Number.isSafeInteger(threads) || threads < 1 || threads > MAX_THREADS) {
    const rule = `must be a whole number from 1 to ${MAX_THREADS}, got ${describeValue(threads)}`;
    throw new InvalidArgumentError('threads', rule);
  }
  return canShareMemory() ? threads : 1;
}
