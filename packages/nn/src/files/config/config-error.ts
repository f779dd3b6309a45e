import { TilewiseError } from '@tilewise/core';

/**
 * An option of `config.json`, or of another configuration file, that is missing, wrong or unknown; `code` is
 * `UNSUPPORTED`.
 */
export class ConfigError extends TilewiseError {
  override readonly name: string = 'ConfigError';
  /** The option, by its path in the file. */
  readonly option: string;

  constructor(option: string, rule: string, file = 'config.json') {
    super('UNSUPPORTED', `${file}: ${option} ${rule}`, { argument: option });
    this.option = option;
  }
}
