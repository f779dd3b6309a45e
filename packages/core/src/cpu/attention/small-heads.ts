import { runSmallHeadGradients } from './backward/small-heads.ts';
import { runSmallHeads } from './forward/small-heads.ts';

/**
 * Passes over problems whose heads are one tile each. For other problems they return false and compute
 * nothing.
 */
export interface SmallHeads {
  readonly forward: typeof runSmallHeads;
  readonly backward: typeof runSmallHeadGradients;
}

export const smallHeads: SmallHeads = { forward: runSmallHeads, backward: runSmallHeadGradients };
