import { TilewiseError } from '@tilewise/core';

/** A hub did not return a file; `code` is `UNSUPPORTED`. */
export class HubError extends TilewiseError {
  override readonly name: string = 'HubError';
  /** The URL that was requested. */
  readonly url: string;
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;

  constructor(
    url: string,
    rule: string,
    options: { readonly status?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super('UNSUPPORTED', `${url} ${rule}`, { ...options, argument: 'source' });
    this.url = url;
    this.status = options.status;
  }
}
