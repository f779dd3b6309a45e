import { type DType, sameShape, Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { constant, evalShape, type Variable } from '@tilewise/graph/ops';
import type { ModelDefinition } from '../architectures/architecture.ts';
import type { InitialValue, LinearShape, Scope } from '../architectures/transformer/scope.ts';
import { checkArgument } from '../checks/check-fields.ts';
import { hasMethod } from '../checks/rules.ts';
import { type CheckpointTensor, readCheckpoint } from '../files/checkpoint/read-checkpoint.ts';
import { CheckpointError, type CheckpointPlace } from '../files/sources/checkpoint-error.ts';
import type { ModelFiles } from '../files/sources/model-files.ts';
import { logitsOf } from './logits.ts';
import { releasedOnError } from './upload.ts';

/** The storage dtypes of weights. */
export type WeightDType = 'f32' | 'f16' | 'bf16';

const weightDTypes: readonly DType[] = ['f32', 'f16', 'bf16'];

/** Shapes of tensors by name. */
export type Shapes = ReadonlyMap<string, readonly number[]>;

/** The weights and the linear layers that a model's graph asks for, by name. */
export interface ModelLayers {
  readonly weights: Shapes;
  /** The initial value of each weight of a new model. */
  readonly initial: ReadonlyMap<string, InitialValue>;
  readonly linear: ReadonlyMap<string, LinearShape>;
}

/** The weights and linear layers of a model, taken from its graph: there is no separate list of names. */
export function layersOf(definition: ModelDefinition): ModelLayers {
  const weights = new Map<string, readonly number[]>();
  const initial = new Map<string, InitialValue>();
  const linear = new Map<string, LinearShape>();
  const scope: Scope = {
    parameter(name, shape, value = 'random') {
      weights.set(name, shape);
      initial.set(name, value);
      // A broadcast view of one number, because only the shape is used.
      return constant(Tensor.zeros([]).expand(shape));
    },
    adapter(layer, shape) {
      linear.set(layer, shape);
      return null;
    },
  };
  const tokens = { shape: [1, 2], dtype: 'i32' } as const;
  const pixels =
    definition.kind === 'image' ? [1, definition.channels, definition.imageSize, definition.imageSize] : [1];
  const logits = logitsOf(definition);
  evalShape(inputs => logits(scope, inputs), { tokens, pixels });
  return { weights, initial, linear };
}

/** Checks an argument that must be a definition. @throws InvalidArgumentError for any other value. */
export function checkDefinition(definition: unknown): void {
  checkArgument('definition', definition, {
    rule: 'must be a definition, such as readModel(config)',
    holds: x => hasMethod(x, 'canonical'),
  });
}

/**
 * The shapes of a model's weights by name.
 * @throws InvalidArgumentError for a value that is not a definition.
 */
export function parameterShapes(definition: ModelDefinition): Shapes {
  checkDefinition(definition);
  return layersOf(definition).weights;
}

/** Where weights are loaded to, how they are stored there, and what cancels the loading. */
interface WeightOptions<T extends TensorDesc> {
  readonly engine: TensorEngine<T>;
  readonly dtype?: WeightDType | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Loads the weights of a model to an engine one by one, each only once.
 * @throws CheckpointError for a tensor that is missing, unexpected or of the wrong shape, and for damaged
 * files; the signal's reason. After an error, nothing stays on the engine.
 */
export async function loadWeights<T extends TensorDesc>(
  files: ModelFiles,
  definition: ModelDefinition,
  shapes: Shapes,
  { engine, dtype, signal }: WeightOptions<T>,
): Promise<Map<string, T>> {
  const weights = new Map<string, T>();
  const { canonical, tied = {} } = definition;
  /** Copies of tied weights that came before the weight, by the weight's name. */
  const early = new Map<string, CheckpointTensor>();
  return releasedOnError(engine, weights, async () => {
    const tensors = readCheckpoint(files, name => canonical(name) !== null || Object.hasOwn(tied, name));
    for await (const found of tensors) {
      signal?.throwIfAborted();
      const { file, name, tensor } = found;
      if (Object.hasOwn(tied, name)) {
        const weight = weights.get(tied[name]);
        if (weight) checkEqual(found, tied[name], await engine.download(weight));
        else early.set(tied[name], found);
        continue;
      }
      const weightName = canonical(name) ?? name;
      const shape = shapes.get(weightName);
      const place = { file, tensor: name };
      if (!shape) throw new CheckpointError(place, 'is not a weight of this model');
      if (weights.has(weightName)) throw new CheckpointError(place, `duplicates the weight '${weightName}'`);
      checkWeight(place, tensor, shape);
      const values = withDType(tensor, dtype);
      weights.set(weightName, engine.upload(values));
      const copy = early.get(weightName);
      // A head of hundreds of megabytes is freed now, and not when all weights are loaded.
      early.delete(weightName);
      if (copy) checkEqual(copy, weightName, values);
    }
    const missing = [...shapes.keys()].find(name => !weights.has(name));
    if (missing !== undefined) throw new CheckpointError({ file: files.name, tensor: missing }, 'is missing');
    return weights;
  });
}

/**
 * Checks that a tensor of a file equals the weight that it is tied to. Versions of transformers do not agree
 * on which of the two a model uses if they differ.
 */
function checkEqual({ file, name, tensor }: CheckpointTensor, weightName: string, weight: Tensor): void {
  const given = withDType(tensor, weight.dtype).data;
  const wanted = weight.data;
  let n = 0;
  // A callback for each of 10⁸ elements would take seconds.
  while (n < given.length && Object.is(given[n], wanted[n])) n++;
  if (n === given.length && n === wanted.length) return;
  const advice = 'to untie them, set tie_word_embeddings to false';
  throw new CheckpointError(
    { file, tensor: name },
    `differs from '${weightName}', to which config.json ties it; ${advice}`,
  );
}

/** The tensor itself if it has the dtype, or if none is given; else a copy in that dtype. */
function withDType(tensor: Tensor, dtype: DType = tensor.dtype): Tensor {
  return dtype === tensor.dtype ? tensor : tensor.cast(dtype);
}

/**
 * Checks the shape and the dtype of a weight in a file.
 * @throws CheckpointError for another shape, and for a dtype other than f32, f16 and bf16.
 */
export function checkWeight(
  place: CheckpointPlace,
  { dtype, shape }: TensorDesc,
  wanted: readonly number[],
): void {
  if (!sameShape(wanted, shape))
    throw new CheckpointError(place, `must have shape [${wanted}], got [${shape}]`);
  if (!weightDTypes.includes(dtype))
    throw new CheckpointError(place, `must be f32, f16 or bf16, got ${dtype}`);
}

/** The weights of a traced function, taken from its arguments by name. */
export function weightScope(
  inputs: Readonly<Record<string, Variable>>,
  adapter: Scope['adapter'] = () => null,
): Scope {
  return {
    parameter(name) {
      const found = inputs[name];
      if (!found) throw new Error(`the model has no weight '${name}'`);
      return found;
    },
    adapter,
  };
}
