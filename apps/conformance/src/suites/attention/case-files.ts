import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type GoldenCase, loadGolden } from '@tilewise/test-data';
import { jsonFiles, readJson, requireFolder } from '../../data-folder.ts';
import { SetupError } from '../../suite.ts';

/** The path and the name of a golden case. */
export interface CaseFile {
  readonly name: string;
  readonly path: string;
}

interface Manifest {
  readonly cases: readonly { readonly name?: string; readonly file: string }[];
}

/**
 * The cases of a folder: those that `manifest.json` lists and any others in `cases/`. If both are missing,
 * the folder's own files.
 * @throws SetupError when there is no such folder, or no case in it.
 */
export function caseFiles(folder: string): CaseFile[] {
  requireFolder('vectors', folder);
  const manifest = join(folder, 'manifest.json');
  const listed = existsSync(manifest) ? listedCases(manifest, folder) : [];
  const cases = join(folder, 'cases');
  const home = existsSync(cases) ? cases : folder;
  const files = new Map(listed.map(file => [file.path, file]));
  for (const file of jsonFiles(home)) {
    const path = resolve(home, file);
    if (path !== resolve(manifest) && !files.has(path)) files.set(path, { name: nameOf(file), path });
  }
  if (files.size === 0) throw new SetupError(`--vectors: there is no case in ${folder}.`);
  return [...files.values()];
}

function listedCases(manifest: string, folder: string): CaseFile[] {
  const content = readJson(manifest);
  if (!isManifest(content)) throw new SetupError(`${manifest} is not a manifest: it has no list of cases.`);
  return content.cases.map(({ name, file }) => ({ name: name ?? nameOf(file), path: resolve(folder, file) }));
}

function isManifest(content: unknown): content is Manifest {
  if (typeof content !== 'object' || content === null || !('cases' in content)) return false;
  return Array.isArray(content.cases) && content.cases.every(entry => typeof Object(entry).file === 'string');
}

function nameOf(file: string): string {
  return basename(file, '.json').replace(/^\d+_/, '');
}

/** @throws Error if the file is missing or does not contain a golden case. */
export function readCase({ path }: CaseFile): GoldenCase {
  if (!existsSync(path)) throw new Error(`the manifest lists ${path}, which is missing`);
  return loadGolden(path);
}
