import { constants } from 'node:os';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { isSwiftShaderPackaged, swiftShaderFolder } from './swiftshader.ts';

const loaderName = 'libvulkan.so.1';

// The flag that keeps a library in the process although Node closes files that are not its addons (glibc's
// value; Node does not export it).
const RTLD_NODELETE = 0x1000;

/**
 * Makes `libvulkan.so.1` available to Dawn on Linux: the system's, or, if there is none, the one packaged
 * with SwiftShader. Dawn opens the library by name, and the dynamic linker returns a loaded library with that
 * name. On other systems Dawn uses Metal or Direct3D, and there is nothing to load.
 */
export async function loadVulkanLoader(): Promise<void> {
  if (process.platform !== 'linux') return;
  if (keepLoaded(loaderName)) return;
  if (isSwiftShaderPackaged()) keepLoaded(join(await swiftShaderFolder(), loaderName));
}

/**
 * Restricts the Vulkan loader of this process to one driver. Throws in a worker thread, whose `process.env`
 * is a copy that the loader never sees.
 */
export function useVulkanDriver(icdFile: string): void {
  if (process.platform !== 'linux') {
    throw new Error(`A Vulkan driver can be chosen on Linux only, not on ${process.platform}.`);
  }
  if (!isMainThread) {
    throw new Error(
      "A Vulkan driver can be chosen in a process's main thread only; in Vitest use pool: 'forks', not 'threads'.",
    );
  }
  process.env.VK_DRIVER_FILES = icdFile;
  process.env.VK_ICD_FILENAMES = icdFile;
}

/** Loads a shared library permanently; false if there is none. */
function keepLoaded(library: string): boolean {
  try {
    process.dlopen({ exports: {} }, library, constants.dlopen.RTLD_NOW | RTLD_NODELETE);
  } catch (error) {
    // Node loads the library first and then throws because it is not an addon, which is the normal case here.
    return String(error).includes('self-register');
  }
  return true;
}
