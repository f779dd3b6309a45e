import { TilewiseError } from '@tilewise/core';
import type { Outcome } from './case.ts';

/**
 * Runs a case, which is unsupported if the library refuses its model or the engine its problem.
 * @throws every other error.
 */
export async function unsupportedIfRefused(run: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof TilewiseError && error.code === 'UNSUPPORTED')
      return { status: 'unsupported', error: null, reason: error.message };
    throw error;
  }
}
