import type { FlatNode } from '../../expr/canonical.ts';
import type { Format } from './format.ts';

/** How a loop moves along its innermost dimension: it stays, goes to the next element, or further. */
export type Step = 'none' | 'next' | 'far';

/**
 * A loop over rows of elements, without a size or an address in it: loops that are written alike share one
 * compiled module.
 */
export interface LoopSpec {
  /** The expression of an element, its distinct nodes in order. */
  readonly nodes: readonly FlatNode[];
  /** The tensors that loads at the place of the loop read, by the names in the expression. */
  readonly streams: readonly Stream[];
  /** The tensors that loads at other places read. */
  readonly tables: readonly Table[];
  /** Dimensions of the loop; the last is the inner one, the one before counts rows. */
  readonly rank: number;
  readonly output: Output;
}

/** A loop, and the key by which loops are told apart. */
export interface KeyedLoop {
  readonly spec: LoopSpec;
  readonly key: string;
}

export interface Stream {
  readonly name: string;
  readonly format: Format;
  readonly step: Step;
}

/** A tensor that is read at indices of its own; outside, the nearest element is read. */
export interface Table {
  readonly name: string;
  readonly format: Format;
  readonly shape: readonly number[];
  /** In elements. */
  readonly strides: readonly number[];
}

/** Where elements go: they are stored, or added to f64 sums, or the largest or smallest f32 is kept. */
export interface Output {
  readonly kind: 'store' | 'sum' | 'max' | 'min';
  readonly format: Format;
  readonly step: Step;
}

/**
 * The numbers of one run of a loop, i32 one after the other: how many elements a row has, and how many rows;
 * for the output and then each stream the address, and the bytes from one element and from one row to the
 * next; the address of each table; and where the loop is in each dimension but the inner one.
 */
export const runNumbers = {
  count: 0,
  rows: 1,
  /** The place of the address of stream n, or of the output for −1. */
  stream: (n: number): number => 2 + 3 * (n + 1),
  table: ({ streams }: LoopSpec, n: number): number => runNumbers.stream(streams.length) + n,
  place: (spec: LoopSpec, d: number): number => runNumbers.table(spec, spec.tables.length) + d,
  length: (spec: LoopSpec): number => runNumbers.place(spec, spec.rank),
} as const;
