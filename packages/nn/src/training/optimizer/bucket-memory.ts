import type { DType, Tensor, TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { type CompiledFunction, compile, type Specs } from '@tilewise/graph/ops';
import { inFloat32 } from '../../architectures/transformer/scope.ts';
import { getOrInsertComputed } from '../../model/get-or-insert.ts';
import { describeAll } from '../../model/model.ts';
import { releasedOnError } from '../../model/upload.ts';
import { type Bucket, type FlatTensor, flatTensor } from './buckets.ts';

/** The role of the parameters in f32. */
export const VALUE = 'value';
/** The role of the parameters in 16 bits, if the model stores them so. */
export const ROUNDED = 'rounded';

/** The memory of a bucket, as a flat tensor for each role. A step updates all of them in place. */
export interface BucketMemory<T> {
  readonly bucket: Bucket;
  /** `VALUE`, then the state of the update rule by its names, then `ROUNDED` if there is one. */
  readonly roles: ReadonlyMap<string, FlatTensor<T>>;
}

/** The values from which the memory of buckets is filled. */
export interface InitialState<T> {
  /** The parameters by name, in the dtypes of the model. */
  readonly values: ReadonlyMap<string, T>;
  /** A saved state by the names of `stateName`, to continue from; by default the values and zeros. */
  readonly from?: ReadonlyMap<string, Tensor> | undefined;
}

/** The name of a parameter, or of a part of its state, in the state of a run. */
export const stateName = (role: string, name: string): string => (role === VALUE ? name : `${role}.${name}`);

/** The parameters of a bucket as the model stores them. */
export const storedParameters = <T>({ roles }: BucketMemory<T>): FlatTensor<T> =>
  roles.get(ROUNDED) ?? (roles.get(VALUE) as FlatTensor<T>);

/**
 * Allocates the memory of buckets, and copies the parameters and their state to it. After an error, nothing
 * stays on the engine.
 * @param state the names of the state tensors of each parameter.
 */
export async function allocateBuckets<T extends TensorDesc>(
  engine: TensorEngine<T>,
  buckets: readonly Bucket[],
  state: readonly string[],
  { values, from }: InitialState<T>,
): Promise<readonly BucketMemory<T>[]> {
  const created: T[] = [];
  const copies: (readonly [from: T | Tensor, to: T])[] = [];
  const allocate = (bucket: Bucket, role: string, dtype: DType): readonly [string, FlatTensor<T>] => {
    const tensor = flatTensor(engine, bucket, dtype);
    created.push(tensor.flat);
    for (const [name, to] of tensor.views) {
      const source = from?.get(stateName(role, name)) ?? (state.includes(role) ? null : values.get(name));
      if (source) copies.push([source, to]);
    }
    return [role, tensor];
  };
  return releasedOnError(engine, created, async () => {
    const memory = buckets.map(bucket => {
      const roles = [VALUE, ...state].map(role => allocate(bucket, role, 'f32'));
      if (bucket.dtype !== 'f32') roles.push(allocate(bucket, ROUNDED, bucket.dtype));
      return { bucket, roles: new Map(roles) };
    });
    await copyAll(engine, copies);
    return memory;
  });
}

/** Copies tensors of the host or of an engine to tensors of the engine, which may have another dtype. */
async function copyAll<T extends TensorDesc>(
  engine: TensorEngine<T>,
  copies: readonly (readonly [from: T | Tensor, to: T])[],
): Promise<void> {
  /** A function for each source: layers repeat, so a model has few different ones. */
  const casts = new Map<string, CompiledFunction<Specs, unknown, T>>();
  try {
    for (const [from, to] of copies) {
      const specs = describeAll({ from });
      const key = JSON.stringify([specs, to.dtype]);
      const cast = getOrInsertComputed(casts, key, () =>
        compile(engine, ({ from: x }) => (x.dtype === to.dtype ? x : inFloat32(x)), specs),
      );
      await cast({ from }, [to]);
    }
  } finally {
    for (const cast of casts.values()) cast.release();
  }
}
