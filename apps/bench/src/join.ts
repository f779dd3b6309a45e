import type { Row } from './table.ts';

/** Columns that two runs must agree in to be about the same work. */
const keys = ['pass', 'B×H×S×D', 'dtype', 'mask'] as const;

/**
 * One row for each piece of work that the first run has a time of, with its best time and, beside it, every engine of the others and how
 * many times as long it took. `engine` names whose times are compared: the fastest of the first run without it.
 * @param lines JSON objects as the suite `attention` and the PyTorch script write them.
 */
export function joinRuns(first: readonly string[], others: readonly string[], engine?: string): Row[] {
  const own = timedRows(first).filter(row => engine === undefined || row.engine === engine);
  const foreign = timedRows(others);
  const works = [...new Set(own.map(workOf))];
  return works.flatMap(work => {
    const mine = own.filter(row => workOf(row) === work);
    const best = mine.reduce((a, b) => (b.ms < a.ms ? b : a));
    return foreign
      .filter(row => workOf(row) === work)
      .map(
        (other): Row => ({
          ...Object.fromEntries(keys.map(key => [key, String(best.row[key] ?? '')])),
          ...{ engine: best.engine, ms: best.ms, 'TFLOP/s': number(best.row['TFLOP/s']) },
          ...{ other: other.engine, 'its ms': other.ms, 'its TFLOP/s': number(other.row['TFLOP/s']) },
          'times as long': other.ms / best.ms,
        }),
      );
  });
}

interface TimedRow {
  readonly row: Readonly<Record<string, unknown>>;
  readonly engine: string;
  readonly ms: number;
}

const workOf = ({ row }: TimedRow): string => keys.map(key => row[key]).join(' ');

const number = (value: unknown): number | string => (typeof value === 'number' ? value : '');

function timedRows(lines: readonly string[]): TimedRow[] {
  return lines
    .filter(line => line.trim() !== '')
    .map(line => JSON.parse(line) as Record<string, unknown>)
    .filter(row => row.suite === 'attention' && typeof row.ms === 'number' && row.pass !== 'roof')
    .map(row => ({ row, engine: String(row.engine), ms: Number(row.ms) }));
}
