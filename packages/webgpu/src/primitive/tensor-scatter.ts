import { elementCount } from '@tilewise/core';
import type { TensorScatterPrimitive } from '@tilewise/core/primitive';
import { elementFormat, wgslTypes } from '../codegen/formats/element-format.ts';
import { invocationIndex, invocations, kernelSpec } from '../codegen/kernel-spec.ts';
import { u32Uniforms } from '../codegen/shader-part.ts';
import { indexNames, unravelIndex } from './access/index-space.ts';
import type { PrimitiveKernels, PrimitiveTensors } from './access/primitive-tensors.ts';
import { readInSpace, writeInSpace } from './access/tensor-access.ts';

/** Writes a part of a tensor: each invocation writes one element of the update. */
export function tensorScatterKernels(
  { axis }: TensorScatterPrimitive,
  { inputs, outputs }: PrimitiveTensors,
): PrimitiveKernels {
  const [update, first] = inputs;
  const [output] = outputs;
  const { shape, dtype } = update;
  const { type } = elementFormat(dtype);
  const count = elementCount(shape);
  const indices = indexNames(shape.length);
  const target = indices.map((index, d) => (d === axis ? 'u32(at)' : index));
  const kernel = kernelSpec({
    name: 'tensor scatter',
    ...invocations(count),
    parts: [
      {
        uniforms: [
          ...u32Uniforms({ count }),
          { name: 'last', type: 'i32', value: output.shape[axis] - 1 },
          ...u32Uniforms(shape, 'extent'),
        ],
      },
      readInSpace('x0', update, update.strides, null),
      readInSpace('x1', first, first.strides, null),
      writeInSpace('y0', output, output.strides, 'each', type),
    ],
    body: `  let n = ${invocationIndex};
  if (n < P.count) {
    ${unravelIndex('n', shape.length)}
    let at = i32(x1_at(i0)) + i32(${indices[axis]});
    if (at >= 0i && at <= P.last) {
      let value = x0_at(${indices.join(', ')});
      y0_store4(vec4u(y0_element(${target.join(', ')})), 1u, ${wgslTypes[type].four}(value));
    }
  }`,
  });
  return { kernels: [kernel] };
}
