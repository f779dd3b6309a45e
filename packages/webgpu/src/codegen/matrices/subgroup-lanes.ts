import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { SubgroupMatrixConfig } from '../../device/capabilities/subgroup-matrix-configs.ts';

/** The number of lanes in a subgroup that computes matrices. */
export const lanes = 32;

/** The number of vec4s in 16 bytes, by which rows are padded so that they start in different banks. */
export const rowPadding = ({ component }: Pick<SubgroupMatrixConfig, 'component'>): number =>
  component === 'f16' ? 2 : 1;

const pinFeature = 'subgroup-size-control';

/** Whether kernels on a device must ask for subgroups of 32 lanes. */
export const needsPin = ({ subgroupMinSize, subgroupMaxSize }: Capabilities): boolean =>
  subgroupMinSize !== lanes || subgroupMaxSize !== lanes;

/** The features that a device lacks for kernels with subgroup matrices, or null. */
export function missingMatrices(
  matrix: SubgroupMatrixConfig,
  pinned: boolean,
  capabilities: Capabilities,
): string | null {
  const { subgroupMinSize: min, subgroupMaxSize: max, subgroupMatrixConfigs, features } = capabilities;
  if (min > lanes || max < lanes || (!pinned && needsPin(capabilities)))
    return `needs subgroups of ${lanes} lanes, but the device's have ${min} to ${max}`;
  if (pinned && !features.includes(pinFeature)) return `needs the feature ${pinFeature}`;
  const text = JSON.stringify(matrix);
  return subgroupMatrixConfigs.some(other => JSON.stringify(other) === text)
    ? null
    : `needs subgroup matrices ${text}, which the device does not have`;
}
