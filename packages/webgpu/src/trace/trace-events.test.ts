import { expect, test } from 'vitest';
import { type TraceRecord, traceEvents } from './trace-events.ts';

const kernel = (start: number, parts: readonly string[]): TraceRecord => ({
  ...{ name: `kernel at ${start}`, where: 'gpu', start, end: start + 1000 },
  ...{ parts, pass: 1, workgroups: 2 },
});
const recorded: TraceRecord = { ...kernel(70_000, []), name: 'sdpa', where: 'host', pass: 0, workgroups: 0 };

test('all rows of a clock count time from its first record, whichever row has that record', () => {
  const events = traceEvents([kernel(5000, []), kernel(8000, ['sdpa']), recorded]);
  const starts = (cat: string, pid: number): unknown =>
    events.filter(e => e.cat === cat && e.pid === pid).map(({ ts }) => ts);
  expect(starts('kernel', 1)).toEqual([0, 3]);
  expect(starts('partition', 1)).toEqual([3]);
  expect(starts('pass', 1)).toEqual([0]);
  expect(starts('partition', 2)).toEqual([0]);
});
