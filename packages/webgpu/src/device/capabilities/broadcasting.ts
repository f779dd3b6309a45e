import type { Capabilities } from './capabilities.ts';

/** SwiftShader as `Capabilities` names its adapter. */
export const swiftShader = 'google swiftshader';

/**
 * Adapters on which lanes do best when they broadcast what they read: CPUs, which gather what lanes read one
 * by one. On lavapipe and on SwiftShader a load takes as long as ten multiplications, from workgroup memory
 * too, and barriers save all registers; a broadcast takes no longer than a multiplication.
 */
const broadcasting: readonly string[] = ['mesa software', swiftShader];

/** Whether the adapter runs on a CPU, judged by its name. */
export const isCpu = ({ adapter }: Pick<Capabilities, 'adapter'>): boolean => broadcasting.includes(adapter);

/** How many lanes of a subgroup read for each other, on adapters that do best that way; null on others. */
export const broadcastGroup = ({
  adapter,
  subgroupMinSize,
}: Pick<Capabilities, 'adapter' | 'subgroupMinSize'>): 4 | 8 | null => {
  if (!broadcasting.includes(adapter) || subgroupMinSize < 4) return null;
  return subgroupMinSize < 8 ? 4 : 8;
};
