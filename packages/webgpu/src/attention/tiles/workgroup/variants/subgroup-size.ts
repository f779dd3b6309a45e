import { inSubgroupsOf } from '../../../../codegen/subgroups.ts';
import { type Tile, tileSize } from '../../tile.ts';

/** The tile, whose kernels ask for subgroups of a size. */
export function withSubgroupSize(size: number, tile: Tile): Tile {
  const { backend, unsupported } = tile;
  const { lanes } = tileSize(tile.grid);
  const part = inSubgroupsOf(size);
  return {
    ...tile,
    backend: { ...backend, parts: (gemms, summed) => [...backend.parts(gemms, summed), part] },
    unsupported(role, problem, capabilities) {
      const { features, subgroupMinSize: min, subgroupMaxSize: max } = capabilities;
      if (!features.includes('subgroup-size-control') || size < min || size > max)
        return `needs the feature subgroup-size-control and subgroups of ${size} lanes`;
      return lanes % size === 0
        ? unsupported(role, problem, capabilities)
        : `must have a multiple of ${size} lanes, its subgroupSize, got ${lanes}`;
    },
  };
}
