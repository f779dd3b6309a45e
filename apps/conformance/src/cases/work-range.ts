import type { SuiteOption } from '../suite-option.ts';

/** Options that limit a suite to cases of a certain size. */
export const workOptions: Readonly<Record<'min-gflop' | 'max-gflop', SuiteOption>> = {
  'min-gflop': {
    value: 'N',
    meaning: 'skip cases that take N GFLOP or less, by their shapes',
    number: 'any',
  },
  'max-gflop': {
    value: 'N',
    meaning: 'skip cases that take more than N GFLOP, by their shapes',
    number: 'any',
  },
};

/**
 * The `skip` of a case that takes less or more work than the options ask for. Two runs, one of which begins
 * where the other ends, cover every case exactly once.
 */
export function skippedBySize(
  gflop: number,
  { 'min-gflop': least, 'max-gflop': most }: Readonly<Record<string, string>>,
): { readonly skip?: string } {
  const takes = `it takes ${gflop.toPrecision(3)} GFLOP`;
  if (most !== undefined && gflop > Number(most)) return { skip: `${takes}, more than --max-gflop ${most}` };
  if (least !== undefined && gflop <= Number(least))
    return { skip: `${takes}, not more than --min-gflop ${least}` };
  return {};
}
