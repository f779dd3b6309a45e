import { type DataChecks, dataChecks } from '@tilewise/core';
import { type PagePart, pagePart } from '../layout/pages.ts';

/** The code that tensors of sequences of different lengths need. */
export interface SequenceTools {
  readonly checks: DataChecks;
  readonly pages: PagePart;
}

export const sequenceTools: SequenceTools = { checks: dataChecks, pages: pagePart };
