import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixturesDir, sharedDir } from './data-folders.ts';

/**
 * One file of random-number vectors, parsed: `philox_kat`, `mem_eff_dropout_vectors`, … The full set is used
 * where it is present, else the committed one. The type is the caller's reading of the file, nothing checks
 * it.
 */
export function loadPhilox<File = unknown>(name: string): File {
  const shared = sharedDir();
  const full = shared && join(shared, 'vectors', 'philox', `${name}.json`);
  const file = full && existsSync(full) ? full : join(fixturesDir(), 'philox', `${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8'));
}
