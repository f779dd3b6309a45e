/**
 * How a workgroup shares out its invocations: each of its results is a column, and the invocations of a
 * column, its strands, each take a part of the elements.
 */
export interface Strands {
  /** Results of a workgroup, a power of two. */
  readonly columns: number;
  /** Strands of a column, a power of two. */
  readonly length: number;
  /** Whether invocations in a row are strands of one column, or columns of one strand. */
  readonly along: 'joined' | 'kept';
  /** Statements that declare `column` and `strand`. */
  readonly declare: string;
  /**
   * Statements that join a variable over the strands of each column; the first strand then has the result in
   * it.
   */
  readonly tree: (array: string, variable: string, join: (a: string, b: string) => string) => string;
}

/**
 * The work to share out: how many results, of how many elements each, and the step from one result to the
 * next.
 */
export interface Workload {
  readonly places: number;
  readonly depth: number;
  readonly keptStep: number;
  readonly joinedStep: number;
  /** Whether the adapter runs on a CPU, where a barrier between strands costs more than the elements. */
  readonly onCpu: boolean;
}

const maxLanes = 256;

/** Lanes and workgroups that keep the cores of a CPU busy, and the limits of a workgroup's lanes. */
const cpu = { lanes: 32, groups: 32, leastLanes: 8, mostLanes: 64 };

/** The least power of two that is not below n; 1 for what is below 1. */
const powerOfTwo = (n: number): number => 2 ** Math.ceil(Math.log2(Math.max(n, 1)));

/** Columns side by side that make whole transfers of memory. */
const wideColumns = 64;

/** Columns side by side that waste no sector of memory. */
const narrowColumns = 8;

/** Steps of an invocation that are worth a second kernel. */
export const longStrand = 32;

/**
 * Invocations in a row should find elements in a row: along the elements of a result where these lie closest,
 * else along the results. A strand that would have fewer than four elements is left out.
 */
export function strandsOf({ places, depth, keptStep, joinedStep, onCpu }: Workload): Strands {
  const along =
    places === 1 || (joinedStep !== 0 && (joinedStep <= keptStep || keptStep === 0)) ? 'joined' : 'kept';
  const useful = powerOfTwo(Math.ceil(depth / 4));
  if (onCpu) {
    const length = Math.min(useful, powerOfTwo(cpu.lanes / places));
    const lanes = Math.min(Math.max(powerOfTwo(places / cpu.groups), cpu.leastLanes), cpu.mostLanes);
    return strands(Math.min(powerOfTwo(places), Math.max(lanes / length, 1)), length, along);
  }
  if (along === 'joined') {
    const length = Math.min(useful, maxLanes);
    return strands(Math.min(maxLanes / length, powerOfTwo(places)), length, along);
  }
  let columns = Math.min(powerOfTwo(places), wideColumns);
  // Fewer columns have more strands; that is worth it where the strands become short enough for one kernel.
  if (depth <= (longStrand * maxLanes) / narrowColumns) {
    while (columns > narrowColumns && depth > (longStrand * maxLanes) / columns) columns /= 2;
  }
  return strands(columns, Math.min(useful, maxLanes / columns), along);
}

function strands(columns: number, length: number, along: Strands['along']): Strands {
  const [column, strand] =
    along === 'joined'
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
