import type { ExportOptions } from '../python/options.ts';

/** How a graph is exported to PyTorch. Tensors are named by their ids. */
export interface TorchOptions extends ExportOptions {
  /** Defaults of the command line of `train.py`, as `{ lr: 1e-3, warmup: 50 }`. */
  readonly training?: Readonly<Record<string, number | string>> | undefined;
}
