import { repeat } from '../../../../codegen/text.ts';
import { isForward, type LaneGrid } from '../../tile.ts';
import type { RowReduction } from '../../tile-backend.ts';
import type { TileRowReduction } from '../workgroup-tile.ts';

const isPowerOfTwo = (n: number): boolean => Number.isInteger(Math.log2(n));

/**
 * `TileBackend.reduceRows` where the tx lanes of a row are neighbours in a subgroup. By `subgroupShuffleXor`
 * each lane joins its number with that of the lane next to it, then of the lane two away, four away, … After
 * log₂(tx) steps each lane has joined the whole row, and all lanes have the same bits, since the two lanes of
 * a step join the same two numbers. Takes neither memory nor barriers.
 */
export const reduceInSubgroup = ({ tx, rows }: LaneGrid, { name, own, join }: RowReduction): string =>
  repeat(
    rows,
    r => `var ${name}${r} = ${own(r)};
    ${repeat(Math.log2(tx), step => `${name}${r} = ${join(`${name}${r}`, `subgroupShuffleXor(${name}${r}, ${2 ** step}u)`)};`)}`,
  );

/**
 * Rows are joined in subgroups. WGSL does not say which lanes of a workgroup are a subgroup, nor in which
 * order lanes are numbered, so a lane has its place in the tile from its subgroup. Subgroups have tx lanes or
 * a multiple of tx, and are full: all rows are whole.
 */
export const subgroupRowReduction: TileRowReduction = {
  part: () => ({
    directives: ['enable subgroups;'],
    builtins: ['@builtin(subgroup_invocation_id) subgroup_lane: u32'],
    // Subgroups take places as they come, since not every WGSL has `subgroup_id`; and as many as they have
    // lanes, since Vulkan lets them have fewer than the `subgroup_size` that it gives.
    code: `var<workgroup> places_taken: atomic<u32>;

fn take_place(subgroup_lane: u32) -> u32 {
  let lanes = subgroupAdd(1u);
  var first = 0u;
  if (subgroupElect()) {
    first = atomicAdd(&places_taken, lanes);
  }
  return subgroupBroadcastFirst(first) + subgroup_lane;
}`,
  }),
  bytes: () => [4],
  place: ({ tx }) => `let place_taken = take_place(subgroup_lane);
  let tx = place_taken % ${tx}u;
  let ty = place_taken / ${tx}u;`,
  reduceRows: reduceInSubgroup,
  reason(role, { tx, ty }, { features, subgroupMinSize: min, subgroupMaxSize: max }) {
    if (!isForward(role)) return "must have rowReduction 'workgroup': gradients join no rows";
    if (!features.includes('subgroups')) return 'needs the feature subgroups';
    if (!isPowerOfTwo(tx) || tx > min)
      return `must have a tx that is a power of two up to ${min}, the device's least subgroup size, got ${tx}`;
    const lanes = tx * ty;
    return lanes % max === 0
      ? null
      : `must have lanes in multiples of ${max}, the device's largest subgroup size, got ${lanes}`;
  },
};
