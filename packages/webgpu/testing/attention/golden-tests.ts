import { join } from 'node:path';
import { fixturesDir, goldenCases, loadGolden } from '@tilewise/test-data';
import { expect, test } from 'vitest';
import { sharedContext } from '../device/shared-context.ts';
import { goldenDisagreements } from './golden.ts';

const committed = join(fixturesDir(), 'attention');

/**
 * Tests one half of the golden cases, stored as f32. Each half is a test file of its own, so that the halves
 * run in parallel: on some adapters, each case compiles kernels for half a minute.
 */
export function testGoldenCases(half: 1 | 2): void {
  const cases = goldenCases(committed).filter((_, n) => n % 2 === half - 1);
  test.each(cases)('golden case %s stored as f32', async name => {
    const golden = loadGolden(name, committed);
    expect(await goldenDisagreements(await sharedContext(), golden, 'f32')).toEqual([]);
  });
}
