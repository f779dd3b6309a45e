import type { DataType } from './operands/storage.ts';
import type { StridedData } from './operands/strided-data.ts';
import type { Random } from './random/random.ts';

/** The value chosen for each option, by the option's name. */
export type Choice = Readonly<Record<string, unknown>>;

export type OperandName = 'q' | 'k' | 'v' | 'dO';

/**
 * How the sequences of a tensor are found: by a batch stride, by the cumulative lengths, or by ragged offsets
 * of its own.
 */
export type Starts = 'dense' | 'packed' | 'ragged';

/**
 * A problem in the making. Options set its sizes first; then q, k, v and dO are made, and options add what is
 * theirs.
 */
export interface Draft {
  readonly choice: Choice;
  /** The random numbers of the problem. */
  readonly random: Random;
  /** Draws the same in every problem of a structure: for numbers that decide the text of kernels. */
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
  /** Positions of each sequence that exist. */
  lengthsQ: number[];
  lengthsKv: number[];
  /** Positions from one sequence to the next in packed tensors; null where they are not packed. */
  spansQ: number[] | null;
  spansKv: number[] | null;
  readonly starts: Record<OperandName, Starts>;
  /** All positions of packed tensors, those behind the last sequence too. */
  tokensQ: number;
  tokensKv: number;
  /** Positions per page of k and v; null where they are not paged. */
  readonly pageSize: Record<'k' | 'v', number | null>;
  /** Whether page tables are packed. */
  packedPages: boolean;
  /** The value in gaps, behind the lengths and behind packed tokens. */
  garbage: number;
  /** Whether there is a backward call. */
  backward: boolean;
  /** Further inputs of backward. */
  readonly backwardInputs: Record<string, StridedData>;
  /** The options of `sdpa`, with tensors as plain data. */
  readonly options: Record<string, unknown>;
}

/** Extents that masks, biases and the like are broadcast to. */
export function scoreShape({ B, Hq, Sq, Skv }: Draft): [number, number, number, number] {
  return [B, Hq, Sq, Skv];
}

/** Shape of lse and dLse. */
export function rowShape({ B, Hq, Sq, starts, tokensQ }: Draft): number[] {
  return starts.q === 'packed' ? [Hq, tokensQ] : [B, Hq, Sq];
}

/** [2, 0, 3] → [0, 2, 2, 5] */
export function cumulative(spans: readonly number[]): number[] {
  const starts = [0];
  for (const n of spans) starts.push(starts[starts.length - 1] + n);
  return starts;
}
