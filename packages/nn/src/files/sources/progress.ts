import { checkArgument } from '../../checks/check-fields.ts';
import { callback } from '../../checks/rules.ts';
import { type ByteSource, chunksOf } from './byte-stream.ts';
import { filesRule, type ModelFiles } from './model-files.ts';

/** How much of a file has been read. */
export interface FileProgress {
  /** The name of the file, such as `model.safetensors`. */
  readonly file: string;
  /** Bytes so far; of a download, including those from the cache. */
  readonly loaded: number;
  /** The size of the file in bytes; null if it is unknown. */
  readonly total: number | null;
}

/**
 * Files whose reading is reported, for example while `loadModel` reads the weights. The size of a file is
 * known for `folderFiles`, `givenFiles`, bytes in memory, and responses that state it.
 * @param onProgress called after each chunk of a file.
 * @throws InvalidArgumentError for an argument that is not the files of a model, or not a function.
 */
export function withProgress(files: ModelFiles, onProgress: (progress: FileProgress) => void): ModelFiles {
  checkArgument('files', files, filesRule);
  checkArgument('onProgress', onProgress, callback);
  return {
    name: files.name,
    async open(file) {
      const source = await files.open(file);
      if (source === null) return null;
      const tell: Tell = (loaded, total) => onProgress({ file, loaded, total });
      return counted(chunksOf(source), tell, sizeOf(source));
    },
  };
}

/** Reports the bytes so far, and the size in bytes; null if it is unknown. */
export type Tell = (loaded: number, total: number | null) => void;

/** The chunks of a file, with a report after each. */
export async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  tell: Tell,
  total: number | null,
): AsyncGenerator<Uint8Array, void, undefined> {
  let loaded = 0;
  for await (const chunk of chunks) {
    loaded += chunk.length;
    tell(loaded, total);
    yield chunk;
  }
}

/** The size of a source in bytes; null if it is unknown. */
function sizeOf(source: ByteSource): number | null {
  if (source instanceof Response) return lengthOf(source);
  const { byteLength, size } = source as { readonly byteLength?: number; readonly size?: number };
  return byteLength ?? size ?? null;
}

/**
 * The length of a body according to its header; unknown if the body is compressed, because the header then
 * counts compressed bytes.
 */
export function lengthOf({ headers }: Response): number | null {
  const length = Number(headers.get('content-length') ?? NaN);
  return headers.has('content-encoding') || !Number.isSafeInteger(length) ? null : length;
}
