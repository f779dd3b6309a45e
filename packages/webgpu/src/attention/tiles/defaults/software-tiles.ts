import { broadcastGroup } from '../../../device/capabilities/broadcasting.ts';
import type { AdapterTiles } from '../tile-choice.ts';
import { plainWorkgroupTile } from '../workgroup/plain-tile.ts';

/** The number of channels of a head that the two lanes of a row hold, a vec4 each. */
const maxChannels = 8;

/** 32 queries and 16 keys on 16 lanes. */
const narrowTile = /* @__PURE__ */ plainWorkgroupTile({ tx: 2, ty: 8, cols: 2, headDimChunk: 2 });

/** 16 queries and 16 keys on 8 lanes, because dK/dV needs as many queries as keys. */
const narrowSquareTile = /* @__PURE__ */ plainWorkgroupTile({ tx: 2, ty: 4, cols: 2, headDimChunk: 2 });

/**
 * Tiles of software adapters for heads of few channels. Lanes whose channels are padding cost a CPU as much
 * as others: with 128 heads of 24 rows and 8 channels, the baseline tiles take two to four times as long.
 * Adapters that broadcast in groups of eight lanes compute such heads on subgroup tiles, except for few
 * queries, for which these kernels would take four times as long to compile as others: 12 s on lavapipe.
 */
export const softwareTiles: AdapterTiles = (role, { Dqk, Dv, fp8 }, _, capabilities) => {
  if (fp8 || Math.max(Dqk, Dv) > maxChannels || broadcastGroup(capabilities) === 8) return null;
  return role === 'dkdv' ? narrowSquareTile : narrowTile;
};
