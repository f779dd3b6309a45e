import type { Shape, Tensor } from '@tilewise/core';
import { type ById, type ByName, mapById, mapByName } from '../given-map.ts';
import type { Role } from './tensors/axes.ts';

/** The options of an export to Python. Tensors are given by id. Values by id or name are objects or Maps. */
export interface ExportOptions {
  /** The name of the Python package: letters, digits and underscores. Default: `exported`. */
  readonly name?: string | undefined;
  /** The shapes of inputs whose shapes the graph does not declare. */
  readonly inputs?: Readonly<Record<number, { readonly shape: Shape }>> | undefined;
  /** The ids of the trained tensors, by their names in weight files. */
  readonly parameters?: Readonly<Record<string, number>> | undefined;
  /** Inputs that are the same in every run, by id: tensors, and numbers for scalars. */
  readonly constants?: ById<Tensor | number | bigint> | undefined;
  /**
   * The weights by the names in `parameters`, and other tensors for the weight file, such as AdamW's moments.
   */
  readonly weights?: ByName<Tensor> | undefined;
  /** The metadata of the weight file, such as `{ step: '100' }`, from which training then continues. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /**
   * The axes that may be sharded over ranks: for an input, each axis as a list of factors, the slowest first.
   * An axis with a row per token is `['batch', 'sequence']`; a number is a factor that is not sharded. Inputs
   * that are not listed are not sharded.
   */
  readonly shard?: Readonly<Record<number, readonly (readonly (Role | number)[])[]>> | undefined;
  /** The number of batch entries and of sequence positions over all ranks. */
  readonly extents?: Readonly<Partial<Record<Role, number>>> | undefined;
  /** The tensor of one element that training minimises; its result is called `loss`. */
  readonly loss?: number | undefined;
  /**
   * The training data by input id: one value per step along an additional first axis. The values of an i64
   * scalar are u32 (steps, 2), low word first. The first value belongs to the step that `metadata` names.
   */
  readonly batches?: ById<Tensor> | undefined;
}

export const exportOptionNames: readonly (keyof ExportOptions)[] = [
  'name',
  'inputs',
  'parameters',
  'constants',
  'weights',
  'metadata',
  'shard',
  'extents',
  'loss',
  'batches',
];

/** The options of an export, in which values by id or name are maps. */
export interface MappedOptions extends Omit<ExportOptions, 'constants' | 'weights' | 'batches'> {
  readonly constants: ReadonlyMap<number, Tensor | number | bigint>;
  readonly weights: ReadonlyMap<string, Tensor> | undefined;
  readonly batches: ReadonlyMap<number, Tensor> | undefined;
}

/** @throws InvalidArgumentError for values by id or name that are neither objects nor maps. */
export function mappedOptions(options: ExportOptions): MappedOptions {
  const { constants, weights, batches } = options;
  return {
    ...options,
    constants: mapById('options.constants', constants),
    weights: weights && mapByName('options.weights', weights),
    batches: batches && mapById('options.batches', batches),
  };
}
