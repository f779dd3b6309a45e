import { existsSync } from 'node:fs';
import { readJson } from '../../data-folder.ts';
import { SetupError } from '../../suite.ts';

/** A case as it stands in the file. */
export type RawCase = Readonly<Record<string, unknown>>;

/**
 * The cases of a file: a list, an object with lists of cases beside other things, or one case.
 * @throws SetupError when there is no such file, or no case in it.
 */
export function readCases(file: string): RawCase[] {
  if (!existsSync(file)) throw new SetupError(`--cases: there is no file ${file}.`);
  const content = readJson(file);
  const isOne = Object.hasOwn(Object(content), 'op');
  const lists: unknown[] =
    Array.isArray(content) || isOne ? [content] : Object.values(Object(content)).filter(Array.isArray);
  const cases = lists.flat().filter((entry): entry is RawCase => typeof entry === 'object' && entry !== null);
  if (cases.length === 0) throw new SetupError(`--cases: there is no case in ${file}.`);
  return cases;
}
