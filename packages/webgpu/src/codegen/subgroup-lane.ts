import type { ShaderPart } from './shader-part.ts';

/**
 * `subgroup_lane`: the lane's number in its subgroup. Where operations of subgroups stand, all of a workgroup
 * takes the same way.
 */
export const subgroupLane: ShaderPart = {
  directives: ['enable subgroups;', 'diagnostic(off, subgroup_uniformity);'],
  builtins: ['@builtin(subgroup_invocation_id) subgroup_lane: u32'],
};
