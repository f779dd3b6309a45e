import { isCpu } from '../../device/capabilities/broadcasting.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { DeviceTiles } from './device-tiles.ts';

/**
 * Loads the tile kinds that the built-in tables use on a device but not on most others, so that a program
 * loads their code only if it is used.
 */
export async function loadTileKinds(capabilities: Capabilities): Promise<DeviceTiles> {
  const { load } = await (isCpu(capabilities) ? import('./software.ts') : import('./hardware.ts'));
  return load(capabilities);
}
