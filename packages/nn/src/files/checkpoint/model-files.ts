import { type ByteSource, chunksOf } from './byte-stream.ts';
import { CheckpointError } from './checkpoint-error.ts';

/** The files of a model: a folder, an upload, or a repository of a hub. */
export interface ModelFiles {
  /** The name of the file in errors. */
  readonly name: string;
  /** Opens a file; null for one that there is not. */
  open(file: string): Promise<ByteSource | null>;
}

/**
 * Files that a page was given, as by `<input type="file" webkitdirectory>` or by dropping them; by their own
 * names.
 */
export function givenFiles(files: Iterable<File>, name = 'the files'): ModelFiles {
  const byName = new Map([...files].map(file => [file.name, file]));
  return { name, open: async file => byName.get(file) ?? null };
}

/**
 * A small file as JSON; null for one that there is not.
 * @throws CheckpointError for what is no JSON object.
 */
export async function readJson(
  files: ModelFiles,
  file: string,
): Promise<Readonly<Record<string, unknown>> | null> {
  const text = await readText(files, file);
  if (text === null) return null;
  let cause: unknown;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (error) {
    cause = error;
  }
  throw new CheckpointError({ file, cause }, 'is no JSON object');
}

/** A small file as text; null for one that there is not. */
export async function readText(files: ModelFiles, file: string): Promise<string | null> {
  const source = await files.open(file);
  if (source === null) return null;
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunksOf(source)) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
