/** The element types of tensors. Arithmetic is f32 (f64 in the reference), whatever the storage. */
export type DType = 'f32' | 'f16' | 'bf16' | 'f8e4m3' | 'f8e5m2' | 'i32' | 'u32' | 'i8' | 'u8' | 'bool';

/** The traits of a dtype, without the functions that read its elements. */
export interface DTypeTraits {
  /** The size of one element. */
  readonly bytes: 1 | 2 | 4;
  /** Whether elements are floats, integers or booleans. */
  readonly kind: 'float' | 'integer' | 'boolean';
}

/** The traits of each dtype. */
export const dtypeTraits: Readonly<Record<DType, DTypeTraits>> = {
  f32: { bytes: 4, kind: 'float' },
  f16: { bytes: 2, kind: 'float' },
  bf16: { bytes: 2, kind: 'float' },
  f8e4m3: { bytes: 1, kind: 'float' },
  f8e5m2: { bytes: 1, kind: 'float' },
  i32: { bytes: 4, kind: 'integer' },
  u32: { bytes: 4, kind: 'integer' },
  i8: { bytes: 1, kind: 'integer' },
  u8: { bytes: 1, kind: 'integer' },
  bool: { bytes: 1, kind: 'boolean' },
};

/** Whether `name` is a dtype of this library. */
export function isDType(name: unknown): name is DType {
  return typeof name === 'string' && Object.hasOwn(dtypeTraits, name);
}
