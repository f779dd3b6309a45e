import { expect, test } from 'vitest';
import type { CaseResult, ConformanceCase } from './case.ts';
import { countOfRun, here, type Lane, runCases } from './run-cases.ts';

const passing = (name: string, skip?: string): ConformanceCase => ({
  name,
  ...(skip !== undefined && { skip }),
  run: async () => ({ status: 'pass', error: 0, reason: null }),
});

/** The names in the order in which a listener gets them. */
async function heard(cases: readonly ConformanceCase[], lanes: readonly Lane[], filter = '') {
  const results: CaseResult[] = [];
  const counts = await runCases(cases, filter, lanes, { finished: result => results.push(result) });
  return { names: results.map(result => result.case), results, counts };
}

test('a case that throws has failed, and the next one runs', async () => {
  const broken: ConformanceCase = { name: 'a', run: () => Promise.reject(new Error('no such layout')) };
  const cases = [broken, passing('b')];
  const { results, counts } = await heard(cases, [here(cases)]);
  expect(results[0]).toMatchObject({ case: 'a', status: 'fail', reason: 'Error: no such layout' });
  expect(counts).toEqual({ pass: 1, fail: 1, unsupported: 0, skipped: 0 });
});

test('a case that is skipped, by name or by an option, is never run', async () => {
  const cases = [passing('large', 'too much work'), passing('small'), passing('other')];
  const ran: number[] = [];
  const lane: Lane = index => {
    ran.push(index);
    return here(cases)(index);
  };
  const { names, counts } = await heard(cases, [lane], 'l');
  expect(ran).toEqual([1]);
  expect(countOfRun(cases, 'l')).toBe(1);
  expect(names).toEqual(['large', 'small', 'other']);
  expect(counts).toEqual({ pass: 1, fail: 0, unsupported: 0, skipped: 2 });
});

test('processes take cases when they are free, and results are reported in the order of the cases', async () => {
  const cases = ['a', 'b', 'c', 'd'].map(name => passing(name));
  const taken: string[][] = [[], []];
  let release = (): void => {};
  const slow = new Promise<void>(resolve => {
    release = resolve;
  });
  const lanes = taken.map(
    (own, n): Lane =>
      async index => {
        own.push(cases[index].name);
        if (n === 0) await slow;
        if (cases[index].name === 'd') release();
        return here(cases)(index);
      },
  );
  const { names, counts } = await heard(cases, lanes);
  expect(taken).toEqual([['a'], ['b', 'c', 'd']]);
  expect(names).toEqual(['a', 'b', 'c', 'd']);
  expect(counts.pass).toBe(4);
});
