import { InvalidArgumentError, Tensor, type TensorDesc } from '@tilewise/core';
import { fillNormal, toU64 } from '@tilewise/philox';
import type { ModelDefinition } from './architectures/architecture.ts';
import { checkFields, type FieldRules } from './checks/check-fields.ts';
import { anything, fromZero, numberOrFunction } from './checks/rules.ts';
import { LoadedModel } from './load-model.ts';
import { logitsOf } from './model/logits.ts';
import { type LoadOptions, loadRules } from './model/model.ts';
import { uploadAll } from './model/upload.ts';
import { checkDefinition, layersOf, type WeightDType } from './model/weights.ts';

/** How the weights of a new model are initialised. */
export interface CreateOptions<T extends TensorDesc> extends LoadOptions<T> {
  /** The storage dtype of the weights. Default f32. */
  readonly dtype?: WeightDType | undefined;
  /** The seed: the same seed gives the same weights. Default 0. */
  readonly seed?: number | bigint | undefined;
  /**
   * The standard deviation of the random weights: one number, or a function of the name and shape of a
   * weight. Default 0.02, as in most published models.
   */
  readonly deviation?: number | ((name: string, shape: readonly number[]) => number) | undefined;
}

const createRules: FieldRules<CreateOptions<TensorDesc>> = {
  ...loadRules,
  seed: anything,
  deviation: numberOrFunction,
};

/**
 * A new model with random weights: the weights of norms start at 1, biases at 0, and other weights are drawn
 * from a normal distribution. Each weight has a random stream, chosen by its name, so that the order of the
 * weights does not matter.
 * @param definition `readModel(config)`, or your own definition.
 * @throws InvalidArgumentError for invalid options, and for a deviation that is negative or not finite;
 * TilewiseError `OUT_OF_MEMORY` for a weight that does not fit into memory.
 */
export function createModel<T extends TensorDesc>(
  definition: ModelDefinition,
  options: CreateOptions<T>,
): LoadedModel<T> {
  checkFields('options', options, createRules);
  checkDefinition(definition);
  const { engine, dtype = 'f32', autocast, seed = 0, deviation = 0.02 } = options;
  toU64(seed, 'seed');
  const layers = layersOf(definition);
  const weights = uploadAll(engine, layers.weights, (shape, name) => {
    const tensor = Tensor.zeros(shape);
    const values = tensor.data as Float32Array;
    const initial = layers.initial.get(name);
    if (initial !== 'random') values.fill(initial ?? 0);
    else {
      const scale = typeof deviation === 'number' ? deviation : deviation(name, shape);
      if (!fromZero.holds(scale))
        throw new InvalidArgumentError('deviation', `${fromZero.rule}, got ${scale} for '${name}'`);
      fillNormal(values, { seed, subsequence: hash(name) });
      for (let n = 0; n < values.length; n++) values[n] *= scale;
    }
    return tensor.cast(dtype);
  });
  return new LoadedModel(engine, definition, layers, weights, logitsOf(definition), autocast);
}

/** The FNV-1a hash of the UTF-16 code units of a name. */
function hash(name: string): number {
  let sum = 0x811c9dc5;
  for (const letter of name) sum = Math.imul(sum ^ letter.charCodeAt(0), 0x01000193);
  return sum >>> 0;
}
