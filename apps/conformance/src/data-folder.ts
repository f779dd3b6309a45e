import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { SetupError } from './suite.ts';

/**
 * Checks that a folder of test data exists.
 * @throws SetupError naming the option and the folder.
 */
export function requireFolder(option: string, folder: string): void {
  if (!existsSync(folder)) throw new SetupError(`--${option}: there is no folder ${folder}.`);
  if (!statSync(folder).isDirectory()) throw new SetupError(`--${option}: ${folder} is not a folder.`);
}

/** The JSON files of a folder and its subfolders, as sorted relative paths. */
export function jsonFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.json'))
    .sort();
}

/** @throws SetupError naming the file if it does not contain JSON. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new SetupError(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
