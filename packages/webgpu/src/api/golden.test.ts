import { join } from 'node:path';
import { fixturesDir, goldenCases, loadGolden } from '@tilewise/test-data';
import { expect, test } from 'vitest';
import { goldenDisagreements } from '../../testing/attention/golden.ts';
import { sharedContext } from '../../testing/device/shared-context.ts';

const committed = join(fixturesDir(), 'attention');

test.each(goldenCases(committed))('golden case %s stored as f32', async name => {
  const golden = loadGolden(name, committed);
  expect(await goldenDisagreements(await sharedContext(), golden, 'f32')).toEqual([]);
});
