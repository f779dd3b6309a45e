import { join } from 'node:path';
import { jsonFiles, readJson, requireFolder } from '../../data-folder.ts';
import { SetupError } from '../../suite.ts';
import { families } from './families/index.ts';

/** One vector of a file, or a whole section that is one vector. */
export interface VectorRecord {
  /** `file/section/index`. */
  readonly name: string;
  readonly section: string;
  readonly record: unknown;
  /** Why the vector is skipped. */
  readonly skip?: string;
}

/** The fields that describe a file in words. */
const descriptions = ['mapping', 'notes', 'fields', 'units'];

/**
 * Every vector in the JSON files of a folder and its subfolders: the elements of each list of a file, and its
 * objects. Lists of words are vectors themselves; text is ignored. A file that is a list without a vector of
 * a known family is a file of something else.
 * @throws SetupError if the folder does not exist or contains no vector, or if a file does not contain JSON.
 */
export function vectorRecords(folder: string): VectorRecord[] {
  requireFolder('vectors', folder);
  const files = jsonFiles(folder);
  if (files.length === 0) throw new SetupError(`--vectors: there is no JSON file in ${folder}.`);
  const records = files.flatMap(file =>
    fileRecords(file.replace(/\.json$/, ''), readJson(join(folder, file))),
  );
  if (records.every(({ skip }) => skip !== undefined))
    throw new SetupError(`--vectors: there is no vector in ${folder}.`);
  return records;
}

function fileRecords(file: string, content: unknown): VectorRecord[] {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    const list = Array.isArray(content) ? content : [];
    if (list.some(record => families.some(({ matches }) => matches(file, record))))
      return sectionRecords(file, file, list);
    return [{ name: file, section: '', record: content, skip: 'it holds no vectors' }];
  }
  return Object.entries(content)
    .filter(
      ([section, value]) => typeof value === 'object' && value !== null && !descriptions.includes(section),
    )
    .flatMap(([section, value]) => sectionRecords(`${file}/${section}`, section, value));
}

function sectionRecords(name: string, section: string, value: unknown): VectorRecord[] {
  if (Array.isArray(value) && value.some(element => typeof element === 'object')) {
    return value.map((record, index) => ({ name: `${name}/${index}`, section, record: withoutNull(record) }));
  }
  return [{ name, section, record: withoutNull(value) }];
}

/** A field that is null counts as absent. */
function withoutNull(record: unknown): unknown {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return record;
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
}
