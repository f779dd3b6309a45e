import type { Primitive } from '@tilewise/core/primitive';
import { mapKernels } from './map/map.ts';
import { matmulKernels } from './matmul/matmul.ts';
import type { PrimitiveKernels, PrimitiveTensors } from './primitive-kernels.ts';
import { randomKernels } from './random.ts';
import { reduceKernels } from './reduction/reduce.ts';
import { rowsKernels } from './reduction/rows.ts';
import { softmaxKernels } from './reduction/softmax.ts';
import { scatterAddKernels } from './scatter-add.ts';
import { tensorScatterKernels } from './tensor-scatter.ts';

/** The kernels of a primitive for tensors that have been checked. */
export function kernelsOf(primitive: Primitive, tensors: PrimitiveTensors): PrimitiveKernels {
  switch (primitive.kind) {
    case 'map':
      return mapKernels(primitive, tensors);
    case 'reduce':
      return reduceKernels(primitive, tensors);
    case 'rows':
      return rowsKernels(primitive, tensors);
    case 'matmul':
      return matmulKernels(primitive, tensors);
    case 'softmax':
      return softmaxKernels(primitive, tensors);
    case 'random':
      return randomKernels(primitive, tensors);
    case 'scatter-add':
      return scatterAddKernels(tensors);
    case 'tensor-scatter':
      return tensorScatterKernels(primitive, tensors);
  }
}
