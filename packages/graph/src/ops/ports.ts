import type { PortSchema } from '../ir/schema/operation.ts';
import type { GraphDType } from '../ir/tensor/dtype.ts';

/** The dtypes that arithmetic is done on. */
export const floats: readonly GraphDType[] = ['f32', 'bf16', 'f16'];

/** Every dtype that a tensor may have. */
export const anything: readonly GraphDType[] = [
  'f32',
  'f16',
  'bf16',
  'f8e4m3',
  'f8e5m2',
  'i32',
  'u32',
  'i8',
  'u8',
  'i4',
  'u4',
  'i64',
  'bool',
  'undef',
];

/** A port; those of the same letter have the same dtype. */
export function port(name: string, type: string, among: readonly GraphDType[] = floats): PortSchema {
  return { name, type, among };
}

/** A port that may be left out. */
export function optionalPort(name: string, type: string, among: readonly GraphDType[] = floats): PortSchema {
  return { name, type, among, optional: true };
}
