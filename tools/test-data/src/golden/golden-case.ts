import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { fixturesDir, sharedDir } from '../data-folders.ts';
import { type GoldenCase, parseGolden } from './parse-golden.ts';

const fileName = /^\d+_(.+)\.json$/;

/** The folder of golden cases: the full set if it is present, else the committed one. */
function defaultDir(): string {
  const shared = sharedDir();
  const full = shared && join(shared, 'vectors', 'attention', 'cases');
  return full && existsSync(full) ? full : join(fixturesDir(), 'attention');
}

/** The names of a folder's golden cases, in the order of their numbers. */
export function goldenCases(dir: string = defaultDir()): string[] {
  return caseFiles(dir).map(file => file.replace(fileName, '$1'));
}

/**
 * Reads one golden case: a name from `goldenCases()`, or the path of a file. Throws if the case does not
 * exist.
 */
export function loadGolden(nameOrPath: string, dir: string = defaultDir()): GoldenCase {
  return parseGolden(goldenText(nameOrPath, dir));
}

/** The text of the case's file, for `parseGolden`. */
export function goldenText(nameOrPath: string, dir: string = defaultDir()): string {
  return readFileSync(findCase(nameOrPath, dir), 'utf8');
}

function findCase(nameOrPath: string, dir: string): string {
  if (isAbsolute(nameOrPath) || nameOrPath.endsWith('.json')) return resolve(nameOrPath);
  const file = caseFiles(dir).find(candidate => candidate.replace(fileName, '$1') === nameOrPath);
  if (file) return join(dir, file);
  throw new Error(`There is no golden case "${nameOrPath}" in ${dir}.`);
}

function caseFiles(dir: string): string[] {
  return readdirSync(dir)
    .filter(file => fileName.test(file))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}
