import { existsSync } from 'node:fs';
import { readJson } from '../../../data-folder.ts';
import { SetupError } from '../../../suite.ts';

/** A case as written in the file. */
export type RawCase = Readonly<Record<string, unknown>>;

/**
 * The cases of a file: a list, an object that contains lists of cases besides other things, or one case.
 * @throws SetupError if the file does not exist or contains no case.
 */
export function readCases(file: string): RawCase[] {
  if (!existsSync(file)) throw new SetupError(`--cases: there is no file ${file}.`);
  const content = readJson(file);
  const isOne = Object.hasOwn(Object(content), 'op');
  const lists: unknown[] =
    Array.isArray(content) || isOne ? [[content].flat()] : Object.values(Object(content));
  // Lists of strings describe the cases. An entry among cases that is not a case counts as one that cannot be
  // understood.
  const ofCases = lists.filter(list => Array.isArray(list) && list.some(isObject)).flat();
  const cases = ofCases.map(
    (entry): RawCase => (isObject(entry) ? entry : { 'that is not an object': entry }),
  );
  if (cases.length === 0) throw new SetupError(`--cases: there is no case in ${file}.`);
  return cases;
}

function isObject(entry: unknown): entry is RawCase {
  return typeof entry === 'object' && entry !== null && !Array.isArray(entry);
}
