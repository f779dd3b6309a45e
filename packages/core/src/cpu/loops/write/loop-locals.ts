import type { ExprType } from '../../../expr/nodes/expr.ts';
import { type LoopSpec, runNumbers } from '../loop-spec.ts';
import type { FunctionWriter, Local } from '../wasm/function-writer.ts';
import type { Value } from './operators.ts';

/** A pointer through a row of a stream, in locals. */
export interface Pointer {
  /** The address of the next element. */
  readonly at: Local;
  /** The address of the first element of the row, and the bytes to the next element and row. */
  readonly start: Local;
  readonly step: Local;
  readonly row: Local;
}

/** The local variables of a loop. */
export interface LoopLocals {
  /** The number of elements per row, and the number of rows that are left. */
  readonly count: Local;
  readonly rows: Local;
  readonly output: Pointer;
  /** The streams and the addresses of the tables, in the order of the spec. */
  readonly streams: readonly Pointer[];
  readonly tables: readonly Local[];
  /** The coordinates of the row, one per dimension; the last one is not used. */
  readonly coordinates: readonly Local[];
  /** The coordinates of four elements along the inner dimension. */
  readonly inner: Local;
  /** The number of iterations that are left in the row. */
  readonly left: Local;
  /** The values of the nodes, in the order of the spec. */
  readonly values: readonly Value[];
}

/** Declares the locals of a loop, and loads the numbers of the run (`runNumbers`) into them. */
export function writeLocals(w: FunctionWriter, spec: LoopSpec): LoopLocals {
  const number = (n: number): Local => {
    const local = w.local('i32');
    w.get(w.parameter)
      .memory('i32Load', 4 * n)
      .set(local);
    return local;
  };
  const pointer = (n: number): Pointer => {
    const at = runNumbers.stream(n);
    return { at: w.local('i32'), start: number(at), step: number(at + 1), row: number(at + 2) };
  };
  return {
    count: number(runNumbers.count),
    rows: number(runNumbers.rows),
    output: pointer(-1),
    streams: spec.streams.map((_, n) => pointer(n)),
    tables: spec.tables.map((_, n) => number(runNumbers.table(spec, n))),
    coordinates: Array.from({ length: spec.rank }, (_, d) => number(runNumbers.coordinate(spec, d))),
    inner: w.local('v128'),
    left: w.local('i32'),
    values: spec.nodes.map(([, type]) => ({ local: w.local('v128'), type: type as ExprType })),
  };
}
