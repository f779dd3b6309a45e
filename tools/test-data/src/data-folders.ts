import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const repositoryRoot = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * The folder with the full sets of vectors and conformance data, which are too large to commit: the one that
 * the environment variable `TILEWISE_SHARED` names (empty: none), else `../shared` beside the repository if
 * it exists. Throws if the variable names a folder that does not exist, because a run must not test less
 * without saying so.
 */
export function sharedDir(): string | undefined {
  const named = process.env.TILEWISE_SHARED;
  if (named === '') return undefined;
  const folder = resolve(named ?? join(repositoryRoot, '..', 'shared'));
  if (existsSync(folder)) return folder;
  if (named === undefined) return undefined;
  throw new Error(`TILEWISE_SHARED names ${folder}, which does not exist.`);
}

/** The committed selection of those sets, which always exists. */
export function fixturesDir(): string {
  return join(repositoryRoot, 'fixtures');
}
