import { contiguousStrides, type DType, elementCount, Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';

/** How a parameter differs from others in a step. */
export interface ParameterSettings {
  /** The factor of the learning rate. */
  readonly rate: number;
  readonly weightDecay: number;
}

/**
 * Parameters with the same dtype and settings, which lie one after the other in a flat tensor: a step moves
 * all of them at once. PyTorch's DistributedDataParallel calls such groups buckets.
 */
export interface Bucket {
  readonly settings: ParameterSettings;
  readonly dtype: DType;
  /** The number of elements of the flat tensor. */
  readonly length: number;
  /** Places by the names of the parameters. */
  readonly places: ReadonlyMap<string, Place>;
}

interface Place {
  readonly shape: readonly number[];
  /** The first element. */
  readonly start: number;
}

/** Elements between the starts of parameters: 256 bytes of 16-bit numbers, where WebGPU can bind a tensor. */
const ALIGNMENT = 128;

/** The most elements of a bucket of several parameters: in f32, what every WebGPU device binds at once. */
const MOST_ELEMENTS = 2 ** 25;

/** The buckets of parameters, in the order of the parameters. */
export function bucketsOf(
  parameters: ReadonlyMap<string, TensorDesc>,
  settingsOf: (name: string) => ParameterSettings,
): readonly Bucket[] {
  const buckets: (Bucket & { length: number; places: Map<string, Place> })[] = [];
  /** The bucket that is being filled, by what its parameters have in common. */
  const filling = new Map<string, (typeof buckets)[number]>();
  for (const [name, { shape, dtype }] of parameters) {
    const settings = settingsOf(name);
    const key = JSON.stringify([settings, dtype]);
    const length = Math.ceil(elementCount(shape) / ALIGNMENT) * ALIGNMENT;
    let bucket = filling.get(key);
    if (!bucket || bucket.length + length > MOST_ELEMENTS) {
      bucket = { settings, dtype, length: 0, places: new Map() };
      filling.set(key, bucket);
      buckets.push(bucket);
    }
    bucket.places.set(name, { shape, start: bucket.length });
    bucket.length += length;
  }
  return buckets;
}

/** The parameters of a bucket as one flat tensor, and each as a view of the flat tensor. */
export interface FlatTensor<T> {
  readonly flat: T;
  readonly views: ReadonlyMap<string, T>;
}

/** A flat tensor of zeros for a bucket. */
export function flatTensor<T extends TensorDesc>(
  engine: TensorEngine<T>,
  { length, places }: Bucket,
  dtype: DType,
): FlatTensor<T> {
  const flat = engine.upload(Tensor.zeros([length], { dtype }));
  const views = [...places].map(([name, { shape, start }]) => {
    const place = { shape, strides: contiguousStrides(shape), offset: start };
    return [name, engine.primitives.view(flat, place)] as const;
  });
  return { flat, views: new Map(views) };
}
