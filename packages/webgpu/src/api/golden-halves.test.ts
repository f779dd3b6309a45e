import { join } from 'node:path';
import { fixturesDir, loadGolden } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { goldenDisagreements } from '../../testing/attention/golden.ts';
import { sharedContext } from '../../testing/device/shared-context.ts';

const committed = join(fixturesDir(), 'attention');

// The storage dtype does not change what happens to a score, so each option is tested with only one of the
// two half dtypes. Head size 15 is read element by element, and its rows share words; the other head sizes
// are read in vectors.
const cases = {
  f16: ['causal_fa_23x56_d15_br', 'dlse_causal_dead_rows_gqa', 'bias_neg_inf_entries'],
  bf16: ['causal_fa_23x56_d15_br', 'mask_dead_head', 'dropout_05_causal_gqa', 'varlen_empty_seq_br'],
} as const;

describe.each(['f16', 'bf16'] as const)('golden cases stored as %s', storage => {
  test.each(cases[storage])('%s', async name => {
    const golden = loadGolden(name, committed);
    expect(await goldenDisagreements(await sharedContext(), golden, storage)).toEqual([]);
  });
});
