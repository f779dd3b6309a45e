import { InvalidArgumentError } from '@tilewise/core';
import type { ModelFiles } from '../checkpoint/model-files.ts';
import { type PartCache, throughCache } from './cached-download.ts';
import { HubError } from './hub-error.ts';

/** How far the download of a file is. */
export interface DownloadProgress {
  readonly file: string;
  /** Bytes so far, those of the cache among them. */
  readonly loaded: number;
  /** Bytes of the file; null where the server does not say. */
  readonly total: number | null;
}

/** A model of a hub, by its id. */
export interface HubOptions {
  /** `owner/name`. */
  readonly id: string;
  /**
   * A branch, a tag or a commit. A file that the cache holds is not asked for again, so a commit says for
   * certain which it is.
   */
  readonly revision?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** For models that not everybody may read. */
  readonly token?: string | undefined;
  /**
   * A cache of the browser, as `await caches.open('models')`. A download that was cut off goes on from its
   * last whole part.
   */
  readonly cache?: PartCache | undefined;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const hubUrl = 'https://huggingface.co';

/**
 * The files of a model of a hub, by `BASE/ID/resolve/REVISION/FILE`.
 * @throws InvalidArgumentError for an id or a revision that is none. What `open` gives throws HubError for a
 * server that refuses.
 */
export function hubFiles(options: HubOptions): ModelFiles {
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
  return {
    name: id,
    async open(file) {
      const url = `${baseUrl}/${id}/resolve/${encodeURIComponent(revision)}/${encodeURIComponent(file)}`;
      const tell = (loaded: number, total: number | null): void => onProgress?.({ file, loaded, total });
      return throughCache({ url, request, cache, tell });
    },
  };
}
