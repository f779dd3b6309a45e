import type { Capabilities } from './capabilities.ts';

/** The name of SwiftShader in `Capabilities.adapter`. */
export const swiftShader = 'google swiftshader';

/**
 * Adapters on which lanes are fastest if they broadcast what they read. These are CPUs, which gather the
 * lanes' reads one by one. On lavapipe and on SwiftShader, a load takes as long as ten multiplications, even
 * from workgroup memory, and a barrier saves all registers; a broadcast takes no longer than a
 * multiplication.
 */
const broadcasting: readonly string[] = ['mesa software', swiftShader];

/** Whether the adapter runs on a CPU, judged by its name. */
export const isCpu = ({ adapter }: Pick<Capabilities, 'adapter'>): boolean => broadcasting.includes(adapter);

/**
 * How many lanes of a subgroup read for each other on adapters where this is fastest; null on other adapters.
 */
export const broadcastGroup = ({
  adapter,
  subgroupMinSize,
}: Pick<Capabilities, 'adapter' | 'subgroupMinSize'>): 4 | 8 | null => {
  if (!broadcasting.includes(adapter) || subgroupMinSize < 4) return null;
  return subgroupMinSize < 8 ? 4 : 8;
};
