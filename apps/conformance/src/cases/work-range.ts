import type { SuiteOption } from '../suite.ts';

/** Options by which a suite runs only cases of a certain size. */
export const workOptions: Readonly<Record<'min-gflop' | 'max-gflop', SuiteOption>> = {
  'min-gflop': { value: 'N', meaning: 'skip cases that --max-gflop N runs', number: 'any' },
  'max-gflop': { value: 'N', meaning: 'skip cases of more, counted from their shapes', number: 'any' },
};

/**
 * Why a case is not to be run, as its `skip`: it takes less work, or more, than the options ask for. Two runs
 * of which one begins where the other ends have every case once.
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
