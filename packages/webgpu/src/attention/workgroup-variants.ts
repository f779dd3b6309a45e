import { f16Arithmetic } from './f16-arithmetic.ts';
import { prefetch } from './prefetch.ts';
import { subgroupStatistics } from './subgroup-statistics.ts';
import type { WorkgroupTile, WorkgroupTileShape } from './tile.ts';

/** A tile that brings the code of what few use, so that only those load it. */
export const workgroupTile = ({
  arithmetic,
  prefetch: isPrefetched,
  statistics,
  ...sizes
}: WorkgroupTileShape): WorkgroupTile => ({
  ...sizes,
  variants: {
    ...(arithmetic === 'f16' && { arithmetic: f16Arithmetic }),
    ...(isPrefetched && { prefetch }),
    ...(statistics === 'subgroup' && { statistics: subgroupStatistics }),
  },
});
