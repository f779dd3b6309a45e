import type { Shape, Tensor } from '@tilewise/core';
import type { Role } from './tensors/axes.ts';

/** How a graph is exported. Tensors are named by their ids. */
export interface ExportOptions {
  /** Name of the Python package: letters, digits and underscores. Default `exported`. */
  readonly name?: string | undefined;
  /** Shapes of inputs that the graph does not say. */
  readonly inputs?: Readonly<Record<number, { readonly shape: Shape }>> | undefined;
  /** The trained tensors, by the names that files of weights give them. */
  readonly parameters?: Readonly<Record<string, number>> | undefined;
  /** Inputs that are the same in every run: tensors, and numbers of scalars. */
  readonly constants?: ReadonlyMap<number, Tensor | number | bigint> | undefined;
  /** Weights by the names of `parameters`, and what goes along with them, as the moments of AdamW. */
  readonly weights?: ReadonlyMap<string, Tensor> | undefined;
  /** Texts of the file of weights, as `{ step: '100' }` for training to go on from there. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /**
   * The axes that may be cut over ranks: for an input, each axis as factors, the slowest first. Rows of all
   * tokens are `[['batch', 'sequence']]`; a number is a factor that is not cut. All other inputs are whole.
   */
  readonly shard?: Readonly<Record<number, readonly (readonly (Role | number)[])[]>> | undefined;
  /** How many entries the batch and how many positions the sequence has. */
  readonly extents?: Readonly<Partial<Record<Role, number>>> | undefined;
  /** The tensor that training makes smaller; its result is called `loss`. */
  readonly loss?: number | undefined;
  /**
   * The data of training, by the ids of inputs: a value for each step along a first axis. The values of a
   * scalar i64 are u32 (steps, 2), the low word first. The first value is that of the step which `metadata`
   * names.
   */
  readonly batches?: ReadonlyMap<number, Tensor> | undefined;
}
