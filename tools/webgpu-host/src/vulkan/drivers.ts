import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

// The folders in which the Vulkan loader looks for drivers; the last but one is NixOS's.
const folders = [
  ...(process.env.XDG_DATA_DIRS ?? '/usr/local/share:/usr/share')
    .split(':')
    .map(folder => join(folder, 'vulkan/icd.d')),
  join(process.env.XDG_DATA_HOME ?? join(homedir(), '.local/share'), 'vulkan/icd.d'),
  '/run/opengl-driver/share/vulkan/icd.d',
  '/etc/vulkan/icd.d',
];

const driverVariables = ['VK_DRIVER_FILES', 'VK_ADD_DRIVER_FILES', 'VK_ICD_FILENAMES'];

/** Whether any Vulkan driver is installed, or named in the environment, on a Linux machine. */
export function hasVulkanDriver(): boolean {
  return (
    driverVariables.some(name => process.env[name]) || folders.some(folder => driversIn(folder).length > 0)
  );
}

/**
 * The ICD file of Mesa's lavapipe for this architecture. Throws, naming the folders searched, if there is
 * none.
 */
export function findLavapipe(): string {
  const architecture = { x64: 'x86_64', arm64: 'aarch64' }[process.arch as string] ?? process.arch;
  const names = [`lvp_icd.${architecture}.json`, 'lvp_icd.json'];
  for (const folder of folders) {
    const name = driversIn(folder).find(file => names.includes(file));
    if (name) return join(folder, name);
  }
  throw new Error(
    `No lavapipe: neither ${names.join(' nor ')} is in ${folders.join(', ')}. Debian and Ubuntu have it in the package mesa-vulkan-drivers.`,
  );
}

function driversIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter(file => file.endsWith('.json'));
  } catch {
    return [];
  }
}
