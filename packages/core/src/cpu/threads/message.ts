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
import type { Variant } from '../kernels/interface/variant.ts';
import type { Region } from '../team/join-team.ts';
import type { Amax } from './amax.ts';
import type { Arrivals } from './shared/arrivals.ts';
import type { Sent } from './shared/shared-tensors.ts';

/** A problem as it goes to a worker: its expressions are flat, since a copy of a nested one takes stack. */
export interface SentProblem extends Omit<AttentionProblem, 'scoreMod' | 'maskMod'> {
  readonly scoreMod: readonly FlatNode[] | null;
  readonly maskMod: readonly FlatNode[] | null;
}

export function sendProblem(problem: AttentionProblem): SentProblem {
  const { scoreMod, maskMod } = problem;
  return { ...problem, scoreMod: scoreMod && flatten(scoreMod), maskMod: maskMod && flatten(maskMod) };
}

/** The problem that was sent, on the other side. */
export function receiveProblem(problem: SentProblem): AttentionProblem {
  const { scoreMod, maskMod } = problem;
  return { ...problem, scoreMod: scoreMod && unflatten(scoreMod), maskMod: maskMod && unflatten(maskMod) };
}

/** A message to a worker: first its set-up, then passes and parallel regions, one after another. */
export type Message = SetUp | Region | ForwardPass | BackwardPass;

export interface SetUp {
  readonly kind: 'set-up';
  readonly variant: Variant;
  /** The kernels of the variant, unless they are TypeScript. */
  readonly module: WebAssembly.Module | undefined;
}

/** The fields that all passes have. */
export interface Pass {
  readonly tiles: TileSize | undefined;
  /** How many workers share it. */
  readonly threads: number;
  /** One number in shared memory: tasks that any thread has claimed. */
  readonly claimed: Int32Array;
  /** How much of the operands is there. */
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
 * A worker's answer to a pass: the pass is done, with the largest magnitudes of its tasks by name, or the
 * error.
 */
export interface Reply {
  readonly error?: string;
  readonly amax?: Amax;
}
