import { elementCount } from '@tilewise/core';
import type { MapPrimitive } from '@tilewise/core/primitive';
import { wgslTypes } from '../../codegen/formats/element-format.ts';
import { invocationIndex, kernelSpec } from '../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../codegen/shader-part.ts';
import { broadcastStrides, divided, indexNames, indexSpace, unravelIndex } from '../access/index-space.ts';
import { outputName, type PrimitiveKernels, type PrimitiveTensors } from '../access/primitive-tensors.ts';
import { bindingPressureOf, writeInSpace, writingOf } from '../access/tensor-access.ts';
import { expressionReads, inputsByName, spaceExpression } from './space-expression.ts';
import { transposedInput, transposingMap } from './transposing-map.ts';

/**
 * A map in one kernel. An invocation computes four consecutive elements, so that no other invocation writes
 * to the same words. If the length of rows and their starts are multiples of four, it reads and writes
 * vectors.
 */
export function mapKernels({ value }: MapPrimitive, tensors: PrimitiveTensors): PrimitiveKernels {
  const { inputs, outputs, unaligned, inPlace } = tensors;
  const [output] = outputs;
  const result = outputName(0);
  const named = inputsByName(inputs);
  const { here, elsewhere, coordinates } = expressionReads(value);
  const { isOverBudget, budget } = bindingPressureOf([...new Set([...here, ...elsewhere]), result], tensors);
  const steps = Object.fromEntries(
    here.flatMap(name => (named[name] ? [[name, broadcastStrides(named[name], output.shape)]] : [])),
  );
  const space = indexSpace(output.shape, { [result]: output.strides, ...steps }, result, coordinates);
  const { extents } = space;
  const rank = extents.length;
  const over = { expr: value, inputs: named, space, unaligned, isOverBudget, inPlace };
  const transposed = isOverBudget ? null : transposedInput(space, result, here);
  if (transposed) return transposingMap({ ...over, four: false }, output, transposed);
  const writing = writingOf(output, { extents, steps: space.steps[result] }, unaligned.has(result));
  const four = writing === 'vector';
  const at = indexNames(rank).join(', ');
  const { four: vector } = wgslTypes[value.type];
  const count = elementCount(extents);
  const quad = four
    ? `${unravelIndex('first', rank)}
  ${result}_store4(vec4u(${result}_element(${at})), 4u, value_at4(${at}));`
    : `let count = min(4u, P.count - first);
  var at = vec4u();
  var values = ${vector}();
  for (var c = 0u; c < count; c++) {
    ${unravelIndex('(first + c)', rank)}
    at[c] = ${result}_element(${at});
    values[c] = value_at(${at});
  }
  ${result}_store4(at, count, values);`;
  const { groups, footprints } = divided(space, 256, count, elsewhere);
  const kernel = kernelSpec({
    ...{ name: 'map', groups, workgroupSize: 64 },
    parts: [
      { uniforms: [...u32Uniforms({ count }), ...u32Uniforms(extents, 'extent')] },
      ...spaceExpression({ ...over, four }),
      writeInSpace(result, output, space.steps[result], writing, value.type, inPlace),
    ],
    body: `  let first = (${invocationIndex}) * 4u;
  if (first >= P.count) {
    return;
  }
  ${quad}`,
    bindingBudget: budget,
  });
  return { kernels: [kernel], footprints };
}
