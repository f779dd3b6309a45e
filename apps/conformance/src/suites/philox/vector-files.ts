import { basename, join } from 'node:path';
import { jsonFiles, readJson, requireFolder } from '../../data-folder.ts';
import { SetupError } from '../../suite.ts';

/** One vector of a file, or a whole section that is a vector by itself. */
export interface VectorRecord {
  /** `file/section/index`. */
  readonly name: string;
  readonly section: string;
  readonly record: unknown;
}

/** What the files say about themselves, in words. */
const descriptions = ['mapping', 'notes', 'fields', 'units'];

/**
 * Every vector of the JSON files of a folder: the elements of each list of a file, and its objects. Lists of words are vectors
 * themselves; text is not looked at.
 * @throws SetupError when there is no such folder, no file in it, or one that holds no JSON object.
 */
export function vectorRecords(folder: string): VectorRecord[] {
  requireFolder('vectors', folder);
  const files = jsonFiles(folder);
  if (files.length === 0) throw new SetupError(`--vectors: there is no JSON file in ${folder}.`);
  return files.flatMap(file => fileRecords(join(folder, file)));
}

function fileRecords(path: string): VectorRecord[] {
  const content = readJson(path);
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new SetupError(`${path} holds no JSON object.`);
  }
  const file = basename(path, '.json');
  return Object.entries(content)
    .filter(
      ([section, value]) => typeof value === 'object' && value !== null && !descriptions.includes(section),
    )
    .flatMap(([section, value]) => sectionRecords(`${file}/${section}`, section, value));
}

function sectionRecords(name: string, section: string, value: unknown): VectorRecord[] {
  if (Array.isArray(value) && value.some(element => typeof element === 'object')) {
    return value.map((record, index) => ({ name: `${name}/${index}`, section, record }));
  }
  return [{ name, section, record: value }];
}
