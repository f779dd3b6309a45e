import type { ExportOptions } from '../python/options.ts';

/** The options of an export to PyTorch. Tensors are given by id. */
export interface TorchOptions extends ExportOptions {
  /** Defaults for the command line of `train.py`, such as `{ lr: 1e-3, warmup: 50 }`. */
  readonly training?: Readonly<Record<string, number | string>> | undefined;
}
