import { join } from 'node:path';
import { fixturesDir, goldenCases, loadGolden } from '@tilewise/test-data';
import { expect, test } from 'vitest';
import { checkCase } from './check-case.ts';

const folder = join(fixturesDir(), 'attention');
const golden = loadGolden('causal_tl_short_q', folder);
const withParams = (changes: object) => ({ ...golden, params: { ...golden.params, ...changes } });

test.each(goldenCases(folder))('%s states one call', name => {
  expect(() => checkCase(loadGolden(name, folder))).not.toThrow();
});

test.each([
  ['an alignment', { align: 'bottom' }, 'the parameter align cannot be "bottom"'],
  ['a missing alignment', { align: undefined }, 'the parameter align cannot be undefined'],
  ['a layout', { layout: 'BSHD' }, 'the parameter layout cannot be "BSHD"'],
  ['a string for a boolean', { causal: 'false' }, 'the parameter causal cannot be "false"'],
  ['no scale', { scale: null }, 'the parameter scale cannot be null'],
  ['a negative softcap', { softcap: -3 }, 'the parameter softcap cannot be -3'],
  ['a window of one bound', { window: [3] }, 'the parameter window cannot be [3]'],
  ['a window of names', { window: { left: 1 } }, 'the parameter window cannot be {"left":1}'],
  ['another number of heads', { Hk: 3 }, 'k has shape [1,2,20,16], which the parameters contradict'],
  ['another number of queries', { Sq: 8 }, 'q has shape [1,2,9,16], which the parameters contradict'],
  ['dropout without a mask', { dropoutP: 0.5 }, 'the case has dropout, but no input keep'],
])('%s is an error instead of being ignored', (_, changes, message) => {
  expect(() => checkCase(withParams(changes) as typeof golden)).toThrow(message);
});

test('a case without outputs is an error', () => {
  expect(() => checkCase({ ...golden, outputs: {} })).toThrow('no output to compare with');
});
