import { lowest } from '../../../codegen/formats/float-bits.ts';
import { type LazyRescaling, lazyMaximum, lazyRescaling } from './lazy-rescaling.ts';

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
 * Each lane has one row. `deferred_from` is the first key of the tile from which on the row is deferred.
 * Tiles before `again_until` are computed again; in these, other rows have weight 0, and their maxima do not
 * grow.
 */
export const deferredRescaling: LazyRescaling = {
  maximum: (r, fullTile) =>
    fullTile === 'true'
      ? `let m_new${r} = select(m${r}, m_seen${r}, m${r} == ${lowest});
    deferred_from = select(deferred_from, min(deferred_from, j0), m_seen${r} > m_new${r} + 8.0);
    let shift${r} = ${infiniteIf('deferred_from <= j0', r)};`
      : `${lazyMaximum(r)}
    let shift${r} = ${infiniteIf('j0 < min(again_until, deferred_from)', r)};`,
  factor: (r, fullTile) => (fullTile === 'true' ? '1.0' : lazyRescaling.factor(r, fullTile)),
};

/** WGSL expression of the new maximum, or of infinity: e^(s − ∞) is 0. */
const infiniteIf = (condition: string, r: number): string =>
  `bitcast<f32>(select(bitcast<u32>(m_new${r}), 0x7f800000u, ${condition}))`;
