import { checkArgument, type Rule } from '../../checks/check-fields.ts';
import { hasMethod } from '../../checks/rules.ts';
import { type ByteSource, chunksOf } from './byte-stream.ts';
import { CheckpointError } from './checkpoint-error.ts';

/** The files of a model: a folder, an upload, or a repository of a hub. */
export interface ModelFiles {
  /** The name of all the files in errors, such as the path of the folder. */
  readonly name: string;
  /** Opens a file; null if it does not exist. */
  open(file: string): Promise<ByteSource | null>;
}

/** A rule for an argument that must be the files of a model. */
export const filesRule: Rule = {
  rule: 'must be the files of a model, such as folderFiles(path)',
  holds: x => hasMethod(x, 'open'),
};

const listRule: Rule = {
  rule: 'must be a list of files',
  holds: x =>
    hasMethod(x, Symbol.iterator) && [...(x as Iterable<unknown>)].every(file => file instanceof Blob),
};

/** The number of characters of a file's path in the chosen folder; 0 where files have no paths. */
const pathLength = ({ webkitRelativePath: path }: Partial<File>): number => path?.length ?? 0;

/**
 * Files that a visitor gave to a page, for example with `<input type="file" webkitdirectory>` or by drag and
 * drop; found by file name. A file of the folder itself is used before one of its subfolders, such as the
 * `config.json` of `onnx`.
 * @throws InvalidArgumentError for anything but a list of files.
 */
export function givenFiles(files: Iterable<File>, name = 'the files'): ModelFiles {
  checkArgument('files', files, listRule);
  // Of paths with the same name, the shortest is that of the folder itself, and a map keeps the last one.
  const sorted = [...files].sort((a, b) => pathLength(b) - pathLength(a));
  const byName = new Map(sorted.map(file => [file.name, file]));
  return { name, open: async file => byName.get(file) ?? null };
}

/**
 * A small file as JSON; null if it does not exist.
 * @throws CheckpointError if the file is not a JSON object.
 */
export async function readJson(
  files: ModelFiles,
  file: string,
): Promise<Readonly<Record<string, unknown>> | null> {
  const text = await readText(files, file);
  return text === null ? null : parseObject(file, () => text, 'is not a JSON object');
}

/** Parses a string as a JSON object. @throws CheckpointError naming the file, for any other string. */
export function parseObject(file: string, read: () => string, rule: string): Record<string, unknown> {
  let cause: unknown;
  try {
    const value: unknown = JSON.parse(read());
    if (isObject(value)) return value;
  } catch (error) {
    cause = error;
  }
  throw new CheckpointError({ file, cause }, rule);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A small file as text; null if it does not exist.
 * @throws InvalidArgumentError for an argument that is not the files of a model.
 */
export async function readText(files: ModelFiles, file: string): Promise<string | null> {
  checkArgument('files', files, filesRule);
  const source = await files.open(file);
  if (source === null) return null;
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunksOf(source)) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
