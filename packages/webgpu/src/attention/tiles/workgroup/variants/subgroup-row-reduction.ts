import { repeat } from '../../../../codegen/text.ts';
import type { RowReduction } from '../../interface/tile-backend.ts';
import type { LaneGrid } from '../../scores/score-vectors.ts';
import { isForward } from '../../tile.ts';
import type { TileRowReduction } from '../workgroup-tile.ts';

export const isPowerOfTwo = (n: number): boolean => Number.isInteger(Math.log2(n));

/**
 * `TileBackend.reduceRows` for rows whose tx lanes are adjacent in a subgroup. With `subgroupShuffleXor`,
 * each lane combines its number with that of the lane at distance 1, then 2, then 4, … After log₂(tx) steps,
 * each lane has reduced the whole row, and all lanes have the same bits, because the two lanes of a step
 * combine the same two numbers. Uses neither memory nor barriers.
 */
export const reduceInSubgroup = ({ tx, rows }: LaneGrid, { name, own, join }: RowReduction): string =>
  repeat(
    rows,
    r => `var ${name}${r} = ${own(r)};
    ${repeat(Math.log2(tx), step => `${name}${r} = ${join(`${name}${r}`, `subgroupShuffleXor(${name}${r}, ${2 ** step}u)`)};`)}`,
  );

/**
 * Reduces rows by shuffles in a subgroup. WGSL does not specify which lanes of a workgroup form a
 * subgroup, or in which order lanes are numbered, so a lane's coordinates in the tile follow from its
 * subgroup. Subgroups have tx lanes or a multiple of tx, and are full, so every row is within one subgroup.
 */
export const subgroupRowReduction: TileRowReduction = {
  part: () => ({
    directives: ['enable subgroups;'],
    builtins: ['@builtin(subgroup_invocation_id) subgroup_lane: u32'],
    // Subgroups number their lanes in the order in which the subgroups arrive, because not every WGSL
    // implementation has `subgroup_id`. Lanes are counted, because Vulkan lets a subgroup have fewer lanes
    // than its `subgroup_size`.
    code: `var<workgroup> lanes_numbered: atomic<u32>;

fn number_lane(subgroup_lane: u32) -> u32 {
  let lanes = subgroupAdd(1u);
  var first = 0u;
  if (subgroupElect()) {
    first = atomicAdd(&lanes_numbered, lanes);
  }
  return subgroupBroadcastFirst(first) + subgroup_lane;
}`,
  }),
  bytes: () => [4],
  lane: ({ tx }) => `let number = number_lane(subgroup_lane);
  let tx = number % ${tx}u;
  let ty = number / ${tx}u;`,
  reduceRows: reduceInSubgroup,
  reason(role, { tx, ty }, { features, subgroupMinSize: min, subgroupMaxSize: max }) {
    if (!isForward(role)) return "must have rowReduction 'workgroup': gradient kernels do not reduce rows";
    if (!features.includes('subgroups')) return 'needs the feature subgroups';
    if (!isPowerOfTwo(tx) || tx > min)
      return `must have a tx that is a power of two up to ${min}, the device's smallest subgroup size, got ${tx}`;
    const lanes = tx * ty;
    return lanes % max === 0
      ? null
      : `must have a multiple of ${max} lanes, the device's largest subgroup size, got ${lanes}`;
  },
};
