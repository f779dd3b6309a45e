import { type DType, Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { type CompiledFunction, compile, type Specs, type Variable } from '@tilewise/graph/ops';
import { describeAll } from '../../model/model.ts';
import { releaseAll, releasedOnError } from '../../model/upload.ts';
import { withSquaredNorm } from '../loss.ts';
import { type Bucket, flatTensor } from '../optimizer/buckets.ts';

/** Memory for the results of a pass, which the next pass overwrites. */
export interface GradientMemory<T extends TensorDesc> {
  /** The loss and the accuracy, as in `LossResult`. */
  readonly summary: T;
  /** The gradients of each bucket as a flat tensor. */
  readonly flat: readonly T[];
  /** The gradients by name, as views of the flat tensors, in the order of the parameters. */
  readonly views: ReadonlyMap<string, T>;
  /** The numbers of the summary, followed by the squared norm of the gradients. */
  numbers(): Promise<Float32Array>;
  release(): void;
}

/**
 * Allocates memory for the gradients of buckets. After an error, nothing stays on the engine.
 * @param size how many numbers the summary has.
 * @param dtypeOf the dtype of the gradients of a bucket.
 */
export function gradientMemory<T extends TensorDesc>(
  engine: TensorEngine<T>,
  buckets: readonly Bucket[],
  size: number,
  dtypeOf: (bucket: Bucket) => DType,
): GradientMemory<T> {
  const flat: T[] = [];
  const views = releasedOnError(engine, flat, () =>
    buckets.flatMap(bucket => {
      const tensor = flatTensor(engine, bucket, dtypeOf(bucket));
      flat.push(tensor.flat);
      return [...tensor.views];
    }),
  );
  const summary = engine.primitives.allocate({ dtype: 'f32', shape: [size] });
  const inputs = { summary, ...Object.fromEntries(flat.entries()) };
  /** The function that computes `numbers`, once it has been requested. */
  let norm: CompiledFunction<Specs, Variable, T> | undefined;
  return {
    summary,
    flat,
    views: new Map(views),
    async numbers() {
      norm ??= compile(
        engine,
        ({ summary: numbers, ...gradients }) => withSquaredNorm(numbers, Object.values(gradients)),
        describeAll(inputs),
      );
      const numbers = Tensor.zeros(norm.results[0].shape);
      await norm(inputs, [numbers]);
      return numbers.toFloat32();
    },
    release() {
      norm?.release();
      releaseAll(engine, [summary, ...flat]);
    },
  };
}
