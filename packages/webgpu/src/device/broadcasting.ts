import type { Capabilities } from './capabilities.ts';

/**
 * Adapters on which lanes do best when they broadcast what they read. On lavapipe a load takes as long
 * as ten multiplications, since lanes are gathered one by one, and barriers save all registers; a broadcast costs nothing.
 */
const broadcasting: readonly string[] = ['mesa software'];

/** How many lanes of a subgroup read for each other, on adapters that do best that way; null on others. */
export const broadcastGroup = ({
  adapter,
  subgroupMinSize,
}: Pick<Capabilities, 'adapter' | 'subgroupMinSize'>): 4 | 8 | null => {
  if (!broadcasting.includes(adapter) || subgroupMinSize < 4) return null;
  return subgroupMinSize < 8 ? 4 : 8;
};
