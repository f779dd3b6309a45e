/**
 * The lanes of a workgroup in columns: each column computes one result, and each of its lanes reads a slice
 * of the result's elements.
 */
export interface LaneColumns {
  /** The number of results of a workgroup, a power of two. */
  readonly columns: number;
  /** The number of lanes in a column, a power of two. */
  readonly length: number;
  /** Whether consecutive lanes have slices of one result, or the same slice of several results. */
  readonly along: 'reduced' | 'kept';
  /** Statements that declare a lane's `column`, and the number of its `slice`. */
  readonly declare: string;
  /**
   * Statements that reduce a variable over the lanes of each column; afterwards, the variable of the lane
   * with slice 0 contains the result.
   */
  readonly tree: (array: string, variable: string, join: (a: string, b: string) => string) => string;
}

/**
 * The work to divide: the number of results, the number of elements of each, and the strides between results
 * and between elements.
 */
export interface Workload {
  readonly results: number;
  readonly depth: number;
  readonly keptStep: number;
  readonly reducedStep: number;
  /** Whether the adapter runs on a CPU, on which a barrier between lanes costs more than the elements. */
  readonly onCpu: boolean;
}

const maxLanes = 256;

/**
 * The numbers of lanes and workgroups that keep the cores of a CPU busy, and the limits of a workgroup's
 * lanes.
 */
const cpu = { lanes: 32, groups: 32, minLanes: 8, maxLanes: 64 };

/** The smallest power of two that is at least n and at least 1. */
const powerOfTwo = (n: number): number => 2 ** Math.ceil(Math.log2(Math.max(n, 1)));

/** The number of adjacent columns that makes full memory transactions. */
const wideColumns = 64;

/** The smallest number of adjacent columns that wastes no sector of memory. */
const narrowColumns = 8;

/** The number of steps per lane from which a second kernel pays off. */
export const longSlice = 32;

/**
 * Divides the work so that consecutive invocations read consecutive elements: along the elements of a result
 * if these are closest together, otherwise along the results. Slices with fewer than four elements are
 * avoided.
 */
export function laneColumns({ results, depth, keptStep, reducedStep, onCpu }: Workload): LaneColumns {
  const along =
    results === 1 || (reducedStep !== 0 && (reducedStep <= keptStep || keptStep === 0)) ? 'reduced' : 'kept';
  const useful = powerOfTwo(Math.ceil(depth / 4));
  if (onCpu) {
    const length = Math.min(useful, powerOfTwo(cpu.lanes / results));
    const lanes = Math.min(Math.max(powerOfTwo(results / cpu.groups), cpu.minLanes), cpu.maxLanes);
    return columnsOf(Math.min(powerOfTwo(results), Math.max(lanes / length, 1)), length, along);
  }
  if (along === 'reduced') {
    const length = Math.min(useful, maxLanes);
    return columnsOf(Math.min(maxLanes / length, powerOfTwo(results)), length, along);
  }
  let columns = Math.min(powerOfTwo(results), wideColumns);
  // Fewer columns have more lanes. That pays off if the slices become short enough for one kernel.
  if (depth <= (longSlice * maxLanes) / narrowColumns) {
    while (columns > narrowColumns && depth > (longSlice * maxLanes) / columns) columns /= 2;
  }
  return columnsOf(columns, Math.min(useful, maxLanes / columns), along);
}

function columnsOf(columns: number, length: number, along: LaneColumns['along']): LaneColumns {
  const [column, slice] =
    along === 'reduced'
      ? [`lane / ${length}u`, `lane % ${length}u`]
      : [`lane % ${columns}u`, `lane / ${columns}u`];
  return {
    columns,
    length,
    along,
    declare: `  let column = ${column};
  let slice = ${slice};`,
    tree: (array, variable, join) =>
      length === 1
        ? ''
        : `${array}[column * ${length}u + slice] = ${variable};
workgroupBarrier();
for (var half = ${length / 2}u; half > 0u; half /= 2u) {
  if (slice < half) {
    ${variable} = ${join(variable, `${array}[column * ${length}u + slice + half]`)};
    ${array}[column * ${length}u + slice] = ${variable};
  }
  workgroupBarrier();
}`,
  };
}
