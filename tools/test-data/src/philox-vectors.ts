import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixturesDir, sharedDir } from './data-folders.ts';

/**
 * One parsed file of random-number vectors: `philox_kat`, `mem_eff_dropout_vectors`, … It comes from the full
 * set if present, else from the committed one. The type is the caller's claim about the file; nothing checks
 * it.
 */
export function loadPhilox<File = unknown>(name: string): File {
  const shared = sharedDir();
  const full = shared && join(shared, 'vectors', 'philox', `${name}.json`);
  const file = full && existsSync(full) ? full : join(fixturesDir(), 'philox', `${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8'));
}
