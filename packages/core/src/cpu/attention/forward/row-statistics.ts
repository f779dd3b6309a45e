import type { SequenceSide } from '../../../attention/host/sequences.ts';
import type { AttentionProblem } from '../../../attention/problem/problem.ts';
import type { Memory, Panel } from '../../kernels/memory/memory.ts';
import type { QueryTile } from '../../operands/query-tile.ts';
import { createStatistic } from '../../operands/row-result.ts';
import type { ForwardResults } from './forward-results.ts';
import type { RunningSoftmax } from './running-softmax.ts';

/** The statistics of the rows of a query tile, when the running softmax has seen all of their scores. */
export interface RowStatistics {
  /** The lse of each row. */
  readonly lse: Panel;
  /** Computes lse for `rows` rows. */
  finish(rows: number): void;
  /** Stores lse and, if requested, max and sumExp. */
  store(queries: QueryTile): void;
}

/** The statistics of query tiles of at most `maxRows` rows. */
export function createRowStatistics(
  problem: AttentionProblem,
  results: ForwardResults,
  side: SequenceSide,
  memory: Memory,
  { largest, sum }: RunningSoftmax,
  maxRows: number,
): RowStatistics {
  const lse = memory.floats(maxRows);
  const setLse = createStatistic(results.lse, problem, side);
  const setMax = results.max && createStatistic(results.max, problem, side);
  const setSumExp = results.sumExp && createStatistic(results.sumExp, problem, side);
  return {
    lse,
    finish(rows) {
      const { values } = lse;
      const { values: m } = largest;
      const { values: l } = sum;
      for (let i = 0; i < rows; i++) values[i] = l[i] === 0 ? -Infinity : m[i] + Math.log(l[i]);
    },
    store({ b, h, i0, rows }) {
      setLse(b, h, i0, lse.values.subarray(0, rows));
      setMax?.(b, h, i0, largest.values.subarray(0, rows));
      setSumExp?.(b, h, i0, sum.values.subarray(0, rows));
    },
  };
}
