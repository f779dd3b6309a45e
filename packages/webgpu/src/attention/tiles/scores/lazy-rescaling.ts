import { lowest } from '../../../codegen/formats/float-bits.ts';

/**
 * A running maximum m that may be up to 8 below a row's largest score, for results that are slow to rescale:
 * l and O are just as accurate, and m seldom changes.
 */
export interface LazyRescaling {
  /** WGSL expression of the new maximum of row r, given that its largest score so far is `m_seenR`. */
  maximum(r: number): string;
  /** WGSL expression of the factor e^(m − m') for the previous sums of row r. */
  factor(r: number): string;
}

export const lazyRescaling: LazyRescaling = {
  maximum: r => `select(m${r}, m_seen${r}, m_seen${r} > m${r} + 8.0)`,
  factor: r => `select(exp(m${r} - m_new${r}), 1.0, m${r} == ${lowest})`,
};
