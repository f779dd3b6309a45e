import { join } from 'node:path';
import { packaged, packageName, packageVersion, unpackTar } from '../packaged-chromium.ts';

export { packageName, packageVersion };

/** Whether npm installed a SwiftShader that this machine can load. */
export function isSwiftShaderPackaged(): boolean {
  return packaged();
}

/** The folder with SwiftShader and a Vulkan loader, unpacked on first use. */
export function swiftShaderFolder(): Promise<string> {
  return unpackTar('swiftshader');
}

/** SwiftShader's Vulkan ICD file. Throws if the package has none for this machine. */
export async function swiftShaderDriver(): Promise<string> {
  if (!packaged()) {
    throw new Error(
      `SwiftShader comes from ${packageName}, which is built for Linux x64, not ${process.platform}-${process.arch}.`,
    );
  }
  return join(await swiftShaderFolder(), 'vk_swiftshader_icd.json');
}
