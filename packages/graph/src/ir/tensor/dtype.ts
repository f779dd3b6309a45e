import type { DType } from '@tilewise/core';

/**
 * Element types of logical tensors: those of `@tilewise/core`, 4-bit integers, and the 64-bit integers of
 * seeds and offsets. `undef` is for a tensor that an operation only passes through.
 */
export type GraphDType = DType | 'i4' | 'u4' | 'i64' | 'undef';

interface GraphDTypeInfo {
  /** The dtype's name in oneDNN's JSON. */
  readonly oneDnn: string;
  /**
   * The dtype in which an engine stores it: one byte per 4-bit integer; two u32 per i64, low word first, in
   * an extra last dimension.
   */
  readonly storage: DType;
}

const graphDTypes: Readonly<Record<GraphDType, GraphDTypeInfo>> = {
  f32: { oneDnn: 'f32', storage: 'f32' },
  f16: { oneDnn: 'f16', storage: 'f16' },
  bf16: { oneDnn: 'bf16', storage: 'bf16' },
  f8e4m3: { oneDnn: 'f8_e4m3', storage: 'f8e4m3' },
  f8e5m2: { oneDnn: 'f8_e5m2', storage: 'f8e5m2' },
  i32: { oneDnn: 's32', storage: 'i32' },
  u32: { oneDnn: 'u32', storage: 'u32' },
  i8: { oneDnn: 's8', storage: 'i8' },
  u8: { oneDnn: 'u8', storage: 'u8' },
  i4: { oneDnn: 's4', storage: 'i8' },
  u4: { oneDnn: 'u4', storage: 'u8' },
  i64: { oneDnn: 's64', storage: 'u32' },
  bool: { oneDnn: 'boolean', storage: 'bool' },
  undef: { oneDnn: 'undef', storage: 'f32' },
};

/** Every dtype of logical tensors. */
export const graphDTypeNames: readonly GraphDType[] = Object.keys(graphDTypes) as GraphDType[];

/** Whether a name is a dtype of logical tensors. */
export function isGraphDType(name: unknown): name is GraphDType {
  return typeof name === 'string' && Object.hasOwn(graphDTypes, name);
}

/** The dtype in which an engine stores a logical tensor. */
export function storageDType(dtype: GraphDType): DType {
  return graphDTypes[dtype].storage;
}

/** oneDNN's name of a dtype. */
export function oneDnnDType(dtype: GraphDType): string {
  return graphDTypes[dtype].oneDnn;
}

const byOneDnnName = new Map(
  Object.entries(graphDTypes).map(([dtype, { oneDnn }]) => [oneDnn, dtype as GraphDType]),
);

/** The dtype with a oneDNN name; undefined for an unknown name. */
export function dtypeOfOneDnn(name: string): GraphDType | undefined {
  return byOneDnnName.get(name);
}

/** The largest finite f32. */
export const LARGEST_F32 = 3.4028234663852886e38;
