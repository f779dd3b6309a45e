import type { TraceEvent } from './trace-events.ts';

/** The total time of all kernels, or all partitions, with one name. */
export interface TraceRow {
  /** The name of the kernel or partition. */
  readonly name: string;
  /** How often it ran. */
  readonly calls: number;
  /** Milliseconds of all calls together. */
  readonly ms: number;
  /** The share of the total time of all rows, 0 to 1. */
  readonly share: number;
}

/** Sums the events of a category by name. Sorts the names by total time, the longest first. */
export function traceTable(
  events: readonly TraceEvent[],
  category: 'kernel' | 'partition' | 'pass' = 'kernel',
): TraceRow[] {
  const rows = new Map<string, { calls: number; ms: number }>();
  let all = 0;
  for (const { name, cat, dur = 0, pid } of events) {
    if (cat !== category || (category === 'partition' && pid !== 1)) continue;
    const row = rows.get(name) ?? { calls: 0, ms: 0 };
    rows.set(name, { calls: row.calls + 1, ms: row.ms + dur / 1000 });
    all += dur / 1000;
  }
  return [...rows]
    .map(([name, row]) => ({ name, ...row, share: all === 0 ? 0 : row.ms / all }))
    .sort((a, b) => b.ms - a.ms);
}

/** Formats the tables of kernels and partitions as text, in columns. */
export function formatTrace(events: readonly TraceEvent[]): string {
  return (['kernel', 'partition'] as const)
    .map(category => ({ category, rows: traceTable(events, category) }))
    .filter(({ rows }) => rows.length > 0)
    .map(({ category, rows }) =>
      columns([
        [category, 'calls', 'ms', 'ms each', '%'],
        ...rows.map(({ name, calls, ms, share }) => [
          name,
          String(calls),
          ms.toFixed(3),
          (ms / calls).toFixed(3),
          (100 * share).toFixed(1),
        ]),
      ]),
    )
    .join('\n\n');
}

function columns(table: readonly (readonly string[])[]): string {
  const widths = table[0].map((_, n) => Math.max(...table.map(row => row[n].length)));
  return table
    .map(row =>
      row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n]) : cell.padStart(widths[n]))).join('  '),
    )
    .join('\n');
}
