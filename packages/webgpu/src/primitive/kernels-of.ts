import type { Primitive } from '@tilewise/core/primitive';
import type { PrimitiveKernels, PrimitiveTensors } from './access/primitive-tensors.ts';
import { mapKernels } from './map/map.ts';
import { matmulKernels } from './matmul/matmul.ts';
import type { MatMulTileSelector } from './matmul/tiles/tile.ts';
import { randomKernels } from './random.ts';
import { reduceKernels } from './reduction/reduce.ts';
import { rowsKernels } from './reduction/rows.ts';
import { softmaxKernels } from './reduction/softmax.ts';
import { scatterAddKernels } from './scatter-add.ts';
import { tensorScatterKernels } from './tensor-scatter.ts';

/**
 * The kernels of a primitive for tensors that have been checked.
 * @param matmulTiles tiles of products that a context has loaded for its device.
 */
export function kernelsOf(
  primitive: Primitive,
  tensors: PrimitiveTensors,
  matmulTiles?: MatMulTileSelector,
): PrimitiveKernels {
  switch (primitive.kind) {
    case 'map':
      return mapKernels(primitive, tensors);
    case 'reduce':
      return reduceKernels(primitive, tensors);
    case 'rows':
      return rowsKernels(primitive, tensors);
    case 'matmul':
      return matmulKernels(primitive, tensors, matmulTiles);
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
