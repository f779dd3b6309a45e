/**
 * How a workgroup divides its invocations: each of its results is a column, and the invocations of a column,
 * its strands, each process a part of the elements.
 */
export interface Strands {
  /** The number of results of a workgroup, a power of two. */
  readonly columns: number;
  /** The number of strands in a column, a power of two. */
  readonly length: number;
  /** Whether consecutive invocations are strands of one column, or columns of one strand. */
  readonly along: 'reduced' | 'kept';
  /** Statements that declare `column` and `strand`. */
  readonly declare: string;
  /**
   * Statements that reduce a variable over the strands of each column; afterwards, the variable of the first
   * strand contains the result.
   */
  readonly tree: (array: string, variable: string, join: (a: string, b: string) => string) => string;
}

/**
 * The work to divide: the number of results, the number of elements of each, and the strides between results
 * and between elements.
 */
export interface Workload {
  readonly places: number;
  readonly depth: number;
  readonly keptStep: number;
  readonly reducedStep: number;
  /** Whether the adapter runs on a CPU, on which a barrier between strands costs more than the elements. */
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

/** The number of steps per invocation from which a second kernel pays off. */
export const longStrand = 32;

/**
 * Divides the work so that consecutive invocations read consecutive elements: along the elements of a result
 * if these are closest together, otherwise along the results. Strands with fewer than four elements are
 * avoided.
 */
export function strandsOf({ places, depth, keptStep, reducedStep, onCpu }: Workload): Strands {
  const along =
    places === 1 || (reducedStep !== 0 && (reducedStep <= keptStep || keptStep === 0)) ? 'reduced' : 'kept';
  const useful = powerOfTwo(Math.ceil(depth / 4));
  if (onCpu) {
    const length = Math.min(useful, powerOfTwo(cpu.lanes / places));
    const lanes = Math.min(Math.max(powerOfTwo(places / cpu.groups), cpu.minLanes), cpu.maxLanes);
    return strands(Math.min(powerOfTwo(places), Math.max(lanes / length, 1)), length, along);
  }
  if (along === 'reduced') {
    const length = Math.min(useful, maxLanes);
    return strands(Math.min(maxLanes / length, powerOfTwo(places)), length, along);
  }
  let columns = Math.min(powerOfTwo(places), wideColumns);
  // Fewer columns have more strands. That pays off if the strands become short enough for one kernel.
  if (depth <= (longStrand * maxLanes) / narrowColumns) {
    while (columns > narrowColumns && depth > (longStrand * maxLanes) / columns) columns /= 2;
  }
  return strands(columns, Math.min(useful, maxLanes / columns), along);
}

function strands(columns: number, length: number, along: Strands['along']): Strands {
  const [column, strand] =
    along === 'reduced'
      ? [`lane / ${length}u`, `lane % ${length}u`]
      : [`lane % ${columns}u`, `lane / ${columns}u`];
  return {
    columns,
    length,
    along,
    declare: `  let column = ${column};
  let strand = ${strand};`,
    tree: (array, variable, join) =>
      length === 1
        ? ''
        : `${array}[column * ${length}u + strand] = ${variable};
workgroupBarrier();
for (var half = ${length / 2}u; half > 0u; half /= 2u) {
  if (strand < half) {
    ${variable} = ${join(variable, `${array}[column * ${length}u + strand + half]`)};
    ${array}[column * ${length}u + strand] = ${variable};
  }
  workgroupBarrier();
}`,
  };
}
