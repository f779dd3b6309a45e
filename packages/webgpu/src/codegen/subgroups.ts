import type { ShaderPart } from './shader-part.ts';

/**
 * `subgroup_lane`: the number of the lane in its subgroup. Subgroup operations are only used in control flow
 * that is uniform in the workgroup.
 */
export const subgroupLane: ShaderPart = {
  directives: ['enable subgroups;', 'diagnostic(off, subgroup_uniformity);'],
  builtins: ['@builtin(subgroup_invocation_id) subgroup_lane: u32'],
};

/** Asks for subgroups of a size, for which the device needs the feature `subgroup-size-control`. */
export const inSubgroupsOf = (size: number): ShaderPart => ({
  directives: ['enable subgroup_size_control;'],
  attributes: [`@subgroup_size(${size})`],
});
