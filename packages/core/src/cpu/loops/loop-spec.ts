import type { FlatNode } from '../../expr/canonical.ts';
import type { Format } from './format.ts';

/**
 * How a loop steps through a tensor along its innermost dimension: not at all, to the next element, or
 * further.
 */
export type Step = 'none' | 'next' | 'far';

/** A loop over rows of elements, without sizes and addresses: equal loops share one compiled module. */
export interface LoopSpec {
  /** The expression of an element, as its distinct nodes in order. */
  readonly nodes: readonly FlatNode[];
  /** The tensors that are read element by element along with the loop, by their names in the expression. */
  readonly streams: readonly Stream[];
  /** The tensors that are read at computed indices. */
  readonly tables: readonly Table[];
  /** The number of dimensions; the last dimension is the inner one, and the one before it counts rows. */
  readonly rank: number;
  readonly output: Output;
}

/** A loop, and a key that identifies it. */
export interface KeyedLoop {
  readonly spec: LoopSpec;
  readonly key: string;
}

export interface Stream {
  readonly name: string;
  readonly format: Format;
  readonly step: Step;
}

/** A tensor that is read at computed indices; an index outside the tensor is clamped to its edge. */
export interface Table {
  readonly name: string;
  readonly format: Format;
  readonly shape: readonly number[];
  /** In elements. */
  readonly strides: readonly number[];
}

/** Where elements go: they are stored, added to f64 sums, or reduced to the largest or smallest f32. */
export interface Output {
  readonly kind: 'store' | 'sum' | 'max' | 'min';
  readonly format: Format;
  readonly step: Step;
}

/**
 * The numbers of one run of a loop, as consecutive i32: the number of elements per row, and the number of
 * rows; for the output and then each stream, the address, and the bytes from one element and from one row to
 * the next; the address of each table; and the coordinates at which the run starts, one per dimension.
 */
export const runNumbers = {
  count: 0,
  rows: 1,
  /** The index of the address of stream n, or of the output for −1. */
  stream: (n: number): number => 2 + 3 * (n + 1),
  table: ({ streams }: LoopSpec, n: number): number => runNumbers.stream(streams.length) + n,
  coordinate: (spec: LoopSpec, d: number): number => runNumbers.table(spec, spec.tables.length) + d,
  length: (spec: LoopSpec): number => runNumbers.coordinate(spec, spec.rank),
} as const;
