import { type LazyRescaling, lazyFactor, lazyMaximum } from './lazy-rescaling.ts';

/** The number of full tiles after which a kernel looks for deferred rows. */
export const tilesPerCheck = 8;

/** WGSL: the value of `deferred_from` in lanes whose row is not deferred. */
export const notDeferred = '0xffffffffu';

/**
 * Lazy rescaling that never changes results in full tiles: a row whose maximum would grow there is deferred,
 * and has weight 0 from this tile on. After some full tiles, the kernel looks whether any row of the
 * workgroup is deferred, and computes these tiles again for the deferred rows, like tiles that are not full.
 * This is rare, and other full tiles need no test of all lanes.
 *
 * Each lane has one row, and `rowSum` declares its sum so far, `l_seenR`. `deferred_from` is the first key of
 * the tile from which on the row is deferred. Tiles before `again_until` are computed again; in these, other
 * rows have weight 0, and their maxima do not grow. The shift of a row with weight 0 is infinity.
 */
export const deferredRescaling = (rowSum: string): LazyRescaling => ({
  maximum: (r, fullTile) =>
    `${rowSum}
    ${
      fullTile === 'true'
        ? `let m_new${r} = select(m${r}, m_seen${r}, l_seen${r} == 0.0);
    deferred_from = select(deferred_from, min(deferred_from, j0), m_seen${r} > m_new${r} + 8.0);
    let has_weight_0 = deferred_from <= j0;`
        : `${lazyMaximum(r)}
    let has_weight_0 = j0 < min(again_until, deferred_from);`
    }
    let shift${r} = bitcast<f32>(select(bitcast<u32>(m_new${r}), 0x7f800000u, has_weight_0));`,
  factor: (r, fullTile) => (fullTile === 'true' ? '1.0' : lazyFactor(r, `l_seen${r}`)),
});
