import { InvalidArgumentError, sameShape, type Tensor, type TensorDesc } from '@tilewise/core';
import { checkFields, type FieldRules } from '../checks/check-fields.ts';
import { fromZero, required } from '../checks/rules.ts';
import { trainedAdapter } from '../lora/trained-adapter.ts';
import type { AdapterWeights } from '../model/adapter.ts';
import type { Model } from '../model/model.ts';
import { releasedOnError, uploadAll } from '../model/upload.ts';
import type { ParameterSettings } from './optimizer/buckets.ts';
import type { Optimizer } from './optimizer/optimizer.ts';
import type { ParameterGroup, Snapshot, TrainerOptions } from './trainer-options.ts';

const groupRules: FieldRules<ParameterGroup> = {
  names: required({ rule: 'must be a RegExp', holds: x => x instanceof RegExp }),
  rate: fromZero,
  weightDecay: fromZero,
};

/**
 * The settings of a parameter according to the groups.
 * @param decay the weight decay of parameters whose group gives none.
 * @throws InvalidArgumentError for an invalid group.
 */
export function parameterSettings(
  groups: readonly ParameterGroup[],
  decay: number,
): (name: string) => ParameterSettings {
  for (const group of groups) checkFields('groups', group, groupRules);
  return name => {
    const { rate = 1, weightDecay = decay } = groups.find(({ names }) => name.search(names) >= 0) ?? {};
    return { rate, weightDecay };
  };
}

/** The parameters that a run trains. */
interface TrainedParameters<T> {
  /** The adapter that has the parameters; undefined if the model has them. */
  readonly adapter: AdapterWeights<T> | undefined;
  /** The parameters by name, in the dtypes of the model. */
  readonly values: Map<string, T>;
}

/**
 * The parameters that a run trains: the weights of the model, or the matrices of an adapter, whose rate is
 * above 0; with the values of `from`, if it is given. After an error, the model and the engine are as before.
 * @param state the names of the state tensors of each parameter.
 * @throws InvalidArgumentError for options that do not fit the model; an error of the engine, such as
 * OUT_OF_MEMORY.
 */
export function trainedParameters<T extends TensorDesc>(
  model: Model<T>,
  { lora, from, seed = 0 }: TrainerOptions,
  state: readonly string[],
  settingsOf: (name: string) => ParameterSettings,
): TrainedParameters<T> {
  const adapter = lora && trainedAdapter(model, lora, seed);
  const all = adapter ? Object.entries(adapter.tensors) : [...model.weights];
  // A new adapter does not belong to the model yet.
  const created = new Map(adapter && adapter !== model.adapter ? all : []);
  return releasedOnError(model.engine, created, () => {
    const values = new Map(all.filter(([name]) => settingsOf(name).rate > 0));
    if (values.size === 0)
      throw new InvalidArgumentError('groups', 'must leave a parameter to train: all rates are 0');
    return { adapter, values: from ? restored(model, values, from, state) : values };
  });
}

/** Puts the current parameters of a run into the model, or into its adapter. */
export function publishParameters<T extends TensorDesc>(
  model: Model<T>,
  isAdapter: boolean,
  { values, memory }: Pick<Optimizer<T>, 'values' | 'memory'>,
): void {
  const { adapter, weights } = model;
  if (!isAdapter) for (const [name, value] of values) weights.set(name, value);
  // An adapter that was merged during the step is gone; the next step says so.
  else if (adapter)
    model.adapter = { ...adapter, tensors: { ...adapter.tensors, ...Object.fromEntries(values) } };
  model.updateMemory(memory);
}

/**
 * Checks that a model has the parameters that a trainer trains. Another trainer, or a merged adapter, would
 * have released them.
 * @throws InvalidArgumentError otherwise.
 */
export function checkParameters<T extends TensorDesc>(
  model: Model<T>,
  parameters: ReadonlyMap<string, T>,
): void {
  const bound = model.bindings();
  for (const [name, tensor] of parameters) if (bound[name] !== tensor) throw lostParameter(name);
}

/** The error for a parameter that another trainer, or a merged adapter, has released. */
export function lostParameter(name: string): InvalidArgumentError {
  return new InvalidArgumentError('model', `no longer has '${name}' of this trainer: create a new trainer`);
}

/**
 * Parameters with the values of a state. The tensors that they replace are released once all new ones are on
 * the engine, so that the model stays as it is on an error.
 * @throws InvalidArgumentError for tensors of another run or with another dtype; an error of the engine, such
 * as OUT_OF_MEMORY.
 */
function restored<T extends TensorDesc>(
  model: Model<T>,
  parameters: ReadonlyMap<string, T>,
  { tensors }: Snapshot,
  state: readonly string[],
): Map<string, T> {
  const shapes = new Map(
    [...parameters].flatMap(([name, { shape }]) =>
      [name, ...state.map(role => `${role}.${name}`)].map(key => [key, shape] as const),
    ),
  );
  for (const [name, { shape, dtype }] of tensors) {
    const wanted = shapes.get(name);
    if (!wanted || !sameShape(wanted, shape) || dtype !== 'f32') {
      const rule = wanted ? `must be f32 of [${wanted}] here` : 'belongs to no parameter here';
      throw new InvalidArgumentError('from', `has '${name}', ${dtype} of [${shape}], which ${rule}`);
    }
  }
  for (const [name, shape] of shapes)
    if (!tensors.has(name))
      throw new InvalidArgumentError(
        'from',
        `has no '${name}' of shape [${shape}]: it is the state of another run`,
      );
  const uploaded = uploadAll(model.engine, parameters, ({ dtype }, name) =>
    (tensors.get(name) as Tensor).cast(dtype),
  );
  model.releaseReplaced(parameters.values());
  return uploaded;
}
