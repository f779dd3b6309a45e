import { TilewiseError } from '@tilewise/core';

/** Where in a checkpoint an error is. */
export interface CheckpointPlace {
  /** The name of the file. */
  readonly file: string;
  /** The tensor, if the error is about one. */
  readonly tensor?: string | undefined;
  /** The error that caused this one. */
  readonly cause?: unknown;
}

/** A checkpoint file is damaged, or does not fit its format or the model; `code` is `INVALID_ARGUMENT`. */
export class CheckpointError extends TilewiseError {
  override readonly name: string = 'CheckpointError';
  /** The name of the file. */
  readonly file: string;
  /** The name of the tensor; undefined if the error is about none. */
  readonly tensor: string | undefined;

  constructor({ file, tensor, cause }: CheckpointPlace, rule: string) {
    const place = tensor === undefined ? file : `${file}: tensor '${tensor}'`;
    super('INVALID_ARGUMENT', `${place} ${rule}`, { argument: file, cause });
    this.file = file;
    this.tensor = tensor;
  }
}
