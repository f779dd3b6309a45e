import { TilewiseError } from '@tilewise/core';

/** An option of `config.json` that is missing, wrong, or not known here; `code` is `UNSUPPORTED`. */
export class ConfigError extends TilewiseError {
  override readonly name: string = 'ConfigError';
  /** The option, by its path in the file. */
  readonly option: string;

  constructor(option: string, rule: string) {
    super('UNSUPPORTED', `config.json: ${option} ${rule}`, { argument: option });
    this.option = option;
  }
}
