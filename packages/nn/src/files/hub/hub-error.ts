import { TilewiseError } from '@tilewise/core';

/** A hub that does not give a file; `code` is `UNSUPPORTED`. */
export class HubError extends TilewiseError {
  override readonly name: string = 'HubError';
  readonly url: string;
  /** The status of the answer; undefined where there was none. */
  readonly status: number | undefined;

  constructor(
    url: string,
    rule: string,
    options: { readonly status?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super('UNSUPPORTED', `${url} ${rule}`, { argument: 'source', cause: options.cause });
    this.url = url;
    this.status = options.status;
  }
}
