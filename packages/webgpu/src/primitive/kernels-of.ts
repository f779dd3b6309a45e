import type { Primitive } from '@tilewise/core/primitive';
import { mapKernels } from './map.ts';
import type { PrimitiveKernels, PrimitiveTensors } from './primitive-kernels.ts';

/** The kernels of a primitive on tensors that fit it. */
export function kernelsOf(primitive: Primitive, tensors: PrimitiveTensors): PrimitiveKernels | null {
  switch (primitive.kind) {
    case 'map':
      return mapKernels(primitive, tensors);
    default:
      return null;
  }
}
