import type { DataType } from './data/storage.ts';
import type { StridedData } from './data/strided-data.ts';
import type { Random } from './random/random.ts';

/** The value chosen for each option, by the option's name. */
export type Choice = Readonly<Record<string, unknown>>;

export type OperandName = 'q' | 'k' | 'v' | 'dO';

/**
 * How the sequences of a tensor are located: by a batch stride, by the cumulative lengths, or by the tensor's
 * own ragged offsets.
 */
export type Starts = 'dense' | 'packed' | 'ragged';

/**
 * A problem under construction. Options first set its sizes; then q, k, v and dO are created, and options add
 * their own tensors.
 */
export interface Draft {
  readonly choice: Choice;
  /** The random numbers of the problem. */
  readonly random: Random;
  /**
   * Draws the same numbers in every problem of a structure, for numbers that are part of the kernels' source.
   */
  readonly structureRandom: Random;
  B: number;
  Hq: number;
  Hk: number;
  Hv: number;
  Sq: number;
  Skv: number;
  Dqk: number;
  Dv: number;
  readonly dtype: Record<OperandName, DataType>;
  /** The number of valid positions in each sequence. */
  lengthsQ: number[];
  lengthsKv: number[];
  /** Positions from one sequence to the next in packed tensors; null if the tensors are not packed. */
  spansQ: number[] | null;
  spansKv: number[] | null;
  readonly starts: Record<OperandName, Starts>;
  /** All positions of packed tensors, including those after the last sequence. */
  tokensQ: number;
  tokensKv: number;
  /** Positions per page of k and v; null if they are not paged. */
  readonly pageSize: Record<'k' | 'v', number | null>;
  /** Whether page tables are packed. */
  packedPages: boolean;
  /** The value in gaps, beyond the lengths and after packed tokens. */
  garbage: number;
  /** Whether there is a backward call. */
  backward: boolean;
  /** Further inputs of backward. */
  readonly backwardInputs: Record<string, StridedData>;
  /** The options of `sdpa`, with tensors as plain data. */
  readonly options: Record<string, unknown>;
}

/** The extents that masks, biases and similar tensors are broadcast to. */
export function scoreShape({ B, Hq, Sq, Skv }: Draft): [number, number, number, number] {
  return [B, Hq, Sq, Skv];
}

/** The shape of lse and dLse. */
export function rowShape({ B, Hq, Sq, starts, tokensQ }: Draft): number[] {
  return starts.q === 'packed' ? [Hq, tokensQ] : [B, Hq, Sq];
}

/** [2, 0, 3] → [0, 2, 2, 5] */
export function cumulative(spans: readonly number[]): number[] {
  const starts = [0];
  for (const n of spans) starts.push(starts[starts.length - 1] + n);
  return starts;
}
