import { expect, test } from 'vitest';
import type { CaseResult } from '../cases/case.ts';
import { jsonReport, textReport } from './report.ts';

const result: CaseResult = { case: 'a', status: 'fail', error: 2, reason: 'line 1\n  line 2', ms: 1.6 };

function linesOf(report: typeof textReport, results: readonly CaseResult[]): string[] {
  const lines: string[] = [];
  const { finished } = report({ out: line => lines.push(line) });
  results.forEach(finished);
  return lines;
}

test('a case is one line in the readable report, whatever its reason', () => {
  expect(linesOf(textReport, [result])).toEqual(['fail         a  line 1 line 2  2 ms']);
  const [line] = linesOf(textReport, [{ ...result, reason: 'x'.repeat(5000) }]);
  expect(line.length).toBeLessThan(400);
});

test('in JSON the reason is complete', () => {
  expect(linesOf(jsonReport, [result]).map(line => JSON.parse(line))).toEqual([result]);
});

test('the running case is shown and then erased', () => {
  const shown: string[] = [];
  const report = textReport({ out: () => {}, status: text => shown.push(text) });
  report.started?.('a', 0, 3);
  report.finished(result);
  expect(shown).toEqual(['1/3 a', '']);
});
