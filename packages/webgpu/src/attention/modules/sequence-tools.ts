import { type DataChecks, dataChecks } from '@tilewise/core/engine';
import { type PagePart, pagePart } from '../layout/pages.ts';

/** The code for sequences of different lengths. */
export interface SequenceTools {
  readonly checks: DataChecks;
  readonly pages: PagePart;
}

export const sequenceTools: SequenceTools = { checks: dataChecks, pages: pagePart };
