import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A package in the `node_modules` of a folder. */
export interface PeerModule {
  readonly version: string;
  /** The root folder of the package. */
  readonly root: string;
}

/** The package in a folder's `node_modules`; null if it is not installed there. */
export function findPeer(folder: string, name: string): PeerModule | null {
  const root = join(resolve(folder), 'node_modules', name);
  try {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly version: string;
    };
    return { version, root };
  } catch {
    return null;
  }
}

/** @throws Error if the package is not installed. */
export function peerIn(folder: string, name: string): PeerModule {
  const found = findPeer(folder, name);
  if (!found) throw new Error(`${name} is not installed in ${folder}`);
  return found;
}

/** Imports a file of the package, as a module. */
export const importPeer = async <T>({ root }: PeerModule, file: string): Promise<T> =>
  (await import(pathToFileURL(join(root, file)).href)) as T;

/** Loads a package as CommonJS, so that packages beside it find the same copy. */
export function requirePeer<T>({ root }: PeerModule, name: string): T {
  return createRequire(join(dirname(root), 'package.json'))(name) as T;
}
