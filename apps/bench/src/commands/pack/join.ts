import type { Row } from '../../suite/table.ts';

/** The columns that must be equal in two runs for their rows to be about the same work. */
const keys = ['pass', 'B×H×S×D', 'dtype', 'mask'] as const;

/**
 * Compares a first run with others: for each piece of work that the first run has timed, it takes the best
 * time under the same toggles, and makes a row for each engine of the others with how many times as long that
 * engine took. `engine` restricts the first run to one engine; by default, its fastest engine counts.
 * @param lines JSON objects as the suite `attention` and the PyTorch script write them.
 */
export function joinRuns(first: readonly string[], others: readonly string[], engine?: string): Row[] {
  const own = timedRows(first).filter(row => engine === undefined || row.engine === engine);
  const foreign = timedRows(others);
  const ways = [...new Set(own.map(wayOf))];
  return ways.flatMap(way => {
    const mine = own.filter(row => wayOf(row) === way);
    const best = mine.reduce((a, b) => (b.ms < a.ms ? b : a));
    return foreign
      .filter(row => workOf(row) === workOf(best))
      .map(
        (other): Row => ({
          ...Object.fromEntries(keys.map(key => [key, String(best.row[key] ?? '')])),
          ...{ engine: best.engine, ms: best.ms, 'TFLOP/s': number(best.row['TFLOP/s']) },
          ...{ other: other.engine, 'its ms': other.ms, 'its TFLOP/s': number(other.row['TFLOP/s']) },
          'times as long': other.ms / best.ms,
          toggles: String(best.row.toggles ?? ''),
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

/** The work, and the Dawn toggles that it ran with. */
const wayOf = (one: TimedRow): string => `${workOf(one)} ${one.row.toggles ?? ''}`;

const number = (value: unknown): number | string => (typeof value === 'number' ? value : '');

function timedRows(lines: readonly string[]): TimedRow[] {
  return lines
    .filter(line => line.trim() !== '')
    .flatMap(parsed)
    .filter(row => row.suite === 'attention' && typeof row.ms === 'number' && row.pass !== 'peak')
    .map(row => ({ row, engine: String(row.engine), ms: Number(row.ms) }));
}

/** Parses a line; returns nothing for a line that was cut off when its program was ended. */
function parsed(line: string): Record<string, unknown>[] {
  try {
    return [JSON.parse(line) as Record<string, unknown>];
  } catch {
    return [];
  }
}
