import type { PortSchema } from '../schema/operation.ts';
import type { GraphDType } from '../tensor/dtype.ts';

/** The dtypes that arithmetic is done on. */
export const floats: readonly GraphDType[] = ['f32', 'bf16', 'f16'];

/** A port; those of the same letter have the same dtype. */
export function port(name: string, type: string, among: readonly GraphDType[] = floats): PortSchema {
  return { name, type, among };
}

/** A port that may be left out. */
export function optionalPort(name: string, type: string, among: readonly GraphDType[] = floats): PortSchema {
  return { name, type, among, optional: true };
}
