/**
 * A running maximum m that may be up to 8 below a row's largest score, for results that are slow to rescale:
 * l and O are just as accurate, and m seldom changes.
 */
export interface LazyRescaling {
  /**
   * Statements that declare `m_newR`, the new maximum of row r, and `shiftR`, which is subtracted from the
   * scores of the row to compute P. The row's largest score so far is `m_seenR`. `fullTile`: as for
   * `TileResults.specialised`.
   */
  maximum(r: number, fullTile: string): string;
  /** WGSL expression of the factor e^(m − m') for the previous sums of row r. */
  factor(r: number, fullTile: string): string;
}

/** Declares the new maximum: a row's largest score if it exceeds the maximum by more than 8. */
export const lazyMaximum = (r: number): string =>
  `let m_new${r} = select(m${r}, m_seen${r}, m_seen${r} > m${r} + 8.0);`;

/**
 * The factor of a row with sum l: 1 if nothing has been summed. (A maximum that is still the lowest number is
 * no sign of that: all scores so far may have had a bias of this size.)
 */
export const lazyFactor = (r: number, l: string): string =>
  `select(exp(m${r} - m_new${r}), 1.0, ${l} == 0.0)`;

/** For lanes that have all keys of their rows. */
export const lazyRescaling: LazyRescaling = {
  maximum: r => `${lazyMaximum(r)}
    let shift${r} = m_new${r};`,
  factor: r => lazyFactor(r, `l${r}`),
};
