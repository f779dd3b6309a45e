import { contiguousStrides, type DType, elementCount, Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';

/** The settings of a parameter in a step. */
export interface ParameterSettings {
  /** The factor of the learning rate. */
  readonly rate: number;
  readonly weightDecay: number;
}

/**
 * Parameters with the same dtype and settings, stored one after the other in a flat tensor: a step updates
 * all of them at once. PyTorch's DistributedDataParallel calls such groups buckets.
 */
export interface Bucket {
  readonly settings: ParameterSettings;
  readonly dtype: DType;
  /** The number of elements of the flat tensor. */
  readonly length: number;
  /** The slots of the parameters in the flat tensor, by name. */
  readonly places: ReadonlyMap<string, Place>;
}

interface Place {
  readonly shape: readonly number[];
  /** The index of the first element. */
  readonly start: number;
}

/**
 * Parameters start at multiples of this number of elements: 256 bytes of 16-bit numbers, as WebGPU's bindings
 * need.
 */
const ALIGNMENT = 128;

/**
 * The largest number of elements in a bucket of several parameters: every WebGPU device can bind as many f32.
 */
const MAX_ELEMENTS = 2 ** 25;

/** The buckets of parameters, in the order of the parameters. */
export function bucketsOf(
  parameters: ReadonlyMap<string, TensorDesc>,
  settingsOf: (name: string) => ParameterSettings,
): readonly Bucket[] {
  const buckets: (Bucket & { length: number; places: Map<string, Place> })[] = [];
  /** The bucket that is being filled, for each dtype and settings. */
  const filling = new Map<string, (typeof buckets)[number]>();
  for (const [name, { shape, dtype }] of parameters) {
    const settings = settingsOf(name);
    const key = JSON.stringify([settings, dtype]);
    const length = Math.ceil(elementCount(shape) / ALIGNMENT) * ALIGNMENT;
    let bucket = filling.get(key);
    if (!bucket || bucket.length + length > MAX_ELEMENTS) {
      bucket = { settings, dtype, length: 0, places: new Map() };
      filling.set(key, bucket);
      buckets.push(bucket);
    }
    bucket.places.set(name, { shape, start: bucket.length });
    bucket.length += length;
  }
  return buckets;
}

/** The parameters of a bucket as one flat tensor, and each as a view of it. */
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
