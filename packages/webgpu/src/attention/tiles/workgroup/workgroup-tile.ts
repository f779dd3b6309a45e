import { checkObject } from '@tilewise/philox/errors';
import type { WorkgroupTile, WorkgroupTileShape } from '../tile.ts';
import { f16Arithmetic } from './f16-arithmetic.ts';
import { prefetch } from './prefetch.ts';
import { subgroupStatistics } from './subgroup-row-reduction.ts';

/**
 * A tile that brings the code of what few use, so that only those load it.
 * @throws InvalidArgumentError for what is no object.
 */
export function workgroupTile(shape: WorkgroupTileShape): WorkgroupTile {
  checkObject('shape', shape);
  const { arithmetic, prefetch: isPrefetched, statistics, ...sizes } = shape;
  return {
    ...sizes,
    variants: {
      ...(arithmetic === 'f16' && { arithmetic: f16Arithmetic }),
      ...(isPrefetched && { prefetch }),
      ...(statistics === 'subgroup' && { statistics: subgroupStatistics }),
    },
  };
}
