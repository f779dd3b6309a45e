import { InvalidArgumentError } from '@tilewise/core';
import { checkFields, type FieldRules } from '../../checks/check-fields.ts';
import { callback, hasMethod, required, signalRule, text } from '../../checks/rules.ts';
import { chunksOf } from '../sources/byte-stream.ts';
import type { ModelFiles } from '../sources/model-files.ts';
import type { FileProgress } from '../sources/progress.ts';
import { type PartCache, throughCache } from './cached-download.ts';
import { HubError } from './hub-error.ts';

/** A model on a hub, and how it is downloaded. */
export interface HubOptions {
  /** `owner/name`. */
  readonly id: string;
  /**
   * A branch, a tag or a commit. Default `main`. A file in the cache is not requested again, so only a commit
   * fixes its version.
   */
  readonly revision?: string | undefined;
  /** The address of a server with the same paths. Default: the Hugging Face Hub. */
  readonly baseUrl?: string | undefined;
  /** The access token for models that are not public. */
  readonly token?: string | undefined;
  /**
   * A browser cache, such as `await caches.open('models')`. An interrupted download resumes after its last
   * complete part.
   */
  readonly cache?: PartCache | undefined;
  /** Called during each download. */
  readonly onProgress?: ((progress: FileProgress) => void) | undefined;
  /** Cancels all downloads, which then reject with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const hubRules: FieldRules<HubOptions> = {
  id: required(text),
  ...{ revision: text, baseUrl: text, token: text },
  cache: { rule: 'must be a Cache', holds: x => hasMethod(x, 'match') },
  onProgress: callback,
  signal: signalRule,
};

const hubUrl = 'https://huggingface.co';

/**
 * The files of a model on a hub, at `BASE/ID/resolve/REVISION/FILE`.
 * @throws InvalidArgumentError for invalid options. `open` rejects with HubError if the server refuses a
 * file or cannot be reached, and with the signal's reason; so does reading the file if the connection breaks.
 */
export function hubFiles(options: HubOptions): ModelFiles {
  checkFields('options', options, hubRules);
  const { id, revision = 'main', baseUrl = hubUrl, token, cache, onProgress, signal } = options;
  if (!/^[\w.-]+(\/[\w.-]+)?$/.test(id) || id.includes('..'))
    throw new InvalidArgumentError('id', `must be 'owner/name', got '${id}'`);
  if (!/^[\w./-]+$/.test(revision) || revision.includes('..'))
    throw new InvalidArgumentError('revision', `must be a branch, a tag or a commit, got '${revision}'`);
  const request = async (url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> => {
    const all = { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    try {
      return await fetch(url, { headers: all, signal: signal ?? null });
    } catch (cause) {
      signal?.throwIfAborted();
      throw new HubError(url, 'could not be reached', { cause });
    }
  };
  async function* read(response: Response, url: string): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* chunksOf(response);
    } catch (cause) {
      signal?.throwIfAborted();
      throw new HubError(url, 'was cut off, because the connection broke; load it again', { cause });
    }
  }
  return {
    name: id,
    async open(file) {
      const url = `${baseUrl}/${id}/resolve/${encodeURIComponent(revision)}/${encodeURIComponent(file)}`;
      const tell = (loaded: number, total: number | null): void => onProgress?.({ file, loaded, total });
      return throughCache({ url, request, read, cache, tell });
    },
  };
}
