import type {
  AttentionProblem,
  BackwardOperands,
  BackwardProblem,
  Operands,
} from '../../attention/problem/problem.ts';
import { type FlatNode, flatten, unflatten } from '../../expr/canonical.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { BackwardSums } from '../attention/backward/sums.ts';
import type { ForwardResults } from '../attention/forward/forward-results.ts';
import type { TileSize } from '../attention/tiles/tile-size.ts';
import type { Variant } from '../kernels/variant.ts';
import type { EngineModules } from '../kernels/wasm/engine-functions.ts';
import type { Amax } from './amax.ts';
import type { Arrivals } from './shared/arrivals.ts';
import type { Sent } from './shared/shared-tensors.ts';

/**
 * A problem in the form that is sent to workers: its expressions are flat, because copying nested ones takes
 * stack.
 */
export interface SentProblem extends Omit<AttentionProblem, 'scoreMod' | 'maskMod'> {
  readonly scoreMod: readonly FlatNode[] | null;
  readonly maskMod: readonly FlatNode[] | null;
}

export function sendProblem(problem: AttentionProblem): SentProblem {
  const { scoreMod, maskMod } = problem;
  return { ...problem, scoreMod: scoreMod && flatten(scoreMod), maskMod: maskMod && flatten(maskMod) };
}

/** The received problem, on the worker's side. */
export function receiveProblem(problem: SentProblem): AttentionProblem {
  const { scoreMod, maskMod } = problem;
  return { ...problem, scoreMod: scoreMod && unflatten(scoreMod), maskMod: maskMod && unflatten(maskMod) };
}

/** A message to a worker: first its set-up, then passes and parallel regions, one after another. */
export type Message = SetUp | Region | ForwardPass | BackwardPass;

export interface SetUp {
  readonly kind: 'set-up';
  readonly variant: Variant;
  /** The module of the variant's kernels, unless they are TypeScript. */
  readonly module: WebAssembly.Module | undefined;
}

/** The fields of all passes. */
export interface Pass {
  readonly tiles: TileSize | undefined;
  /** The number of threads that share the pass. */
  readonly threads: number;
  /** One number in shared memory: how many tasks have been claimed by any thread. */
  readonly claimed: Int32Array;
  /** The parts of the operands that have arrived. */
  readonly arrivals: Arrivals;
}

export interface ForwardPass extends Pass {
  readonly kind: 'forward';
  readonly problem: SentProblem;
  readonly operands: Sent<Operands<Tensor>>;
  readonly results: Sent<ForwardResults>;
}

export interface BackwardPass extends Pass {
  readonly kind: 'backward';
  readonly problem: Omit<BackwardProblem, 'forward'> & { readonly forward: SentProblem };
  readonly operands: Sent<BackwardOperands<Tensor>>;
  readonly results: Sent<BackwardSums>;
}

/**
 * Asks a worker to join a parallel region, in which it shares the steps of programs until the region ends.
 */
export interface Region {
  readonly kind: 'region';
  readonly shared: Int32Array;
  /** The numbers of the region and of the thread. */
  readonly region: number;
  readonly thread: number;
  /** The memory that all threads work on, its number, and the modules of the kernels. */
  readonly memory: WebAssembly.Memory;
  readonly memoryNumber: number;
  readonly kernelModules: EngineModules;
  /** Loops that the worker does not know, numbered from `firstLoop` on. */
  readonly firstLoop: number;
  readonly loops: readonly WebAssembly.Module[];
}

/**
 * A worker's answer to a pass: the largest magnitudes of its tasks by name, once the pass is done, or the
 * error.
 */
export interface Reply {
  readonly error?: string;
  /** Whether the call caused the error, such as a score mod that loads from outside a tensor. */
  readonly isOfCall?: boolean;
  readonly amax?: Amax;
}
