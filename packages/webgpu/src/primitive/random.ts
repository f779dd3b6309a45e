import { elementCount } from '@tilewise/core';
import type { RandomPrimitive } from '@tilewise/core/primitive';
import { philox4x32Wgsl, uniformWgsl } from '@tilewise/philox/wgsl';
import { invocationIndex, invocations, kernelSpec } from '../codegen/kernel-spec.ts';
import { type ShaderPart, u32Uniforms } from '../codegen/shader-part.ts';
import { indexNames, indexSpace, unravelIndex } from './access/index-space.ts';
import type { PrimitiveKernels, PrimitiveTensors } from './access/primitive-tensors.ts';
import { readAnywhere, readInSpace, writeInSpace, writingOf } from './access/tensor-access.ts';

/**
 * Random numbers by the index of the element: an invocation generates one block, whose four words become four
 * consecutive elements.
 */
export function randomKernels(
  { distribution }: RandomPrimitive,
  { inputs, outputs, unaligned }: PrimitiveTensors,
): PrimitiveKernels {
  const [output] = outputs;
  const space = indexSpace(output.shape, { y0: output.strides });
  const { extents } = space;
  const count = elementCount(extents);
  const writing = writingOf(output, { extents, steps: space.steps.y0 }, unaligned.has('y0'));
  const names = indexNames(extents.length).join(', ');
  const isBernoulli = distribution === 'bernoulli';
  const kernel = kernelSpec({
    name: 'random',
    ...invocations(Math.ceil(count / 4)),
    parts: [
      { uniforms: [...u32Uniforms({ count }), ...u32Uniforms(extents, 'extent')] },
      { requires: [philox4x32Wgsl(10)] },
      readInSpace('x0', inputs[0], inputs[0].strides, null),
      readInSpace('x1', inputs[1], inputs[1].strides, null),
      ...(isBernoulli ? [readAnywhere('x2', inputs[2]), bernoulli] : [uniform]),
      writeInSpace('y0', output, space.steps.y0, writing, isBernoulli ? 'bool' : 'f32'),
    ],
    body: `  let first = (${invocationIndex}) * 4u;
  if (first >= P.count) {
    return;
  }
  let count = min(4u, P.count - first);
  let values = drawn(philox4x32_10(vec4u(${words('x1')}, first, 0u), ${words('x0')}));
  var at = vec4u();
  for (var c = 0u; c < count; c++) {
    ${unravelIndex('(first + c)', extents.length)}
    at[c] = y0_element(${names});
  }
  y0_store4(at, count, values);`,
  });
  return { kernels: [kernel] };
}

/** The two words of a seed or an offset. */
const words = (name: string): string => `vec2u(u32(${name}_at(0u)), u32(${name}_at(1u)))`;

const uniform: ShaderPart = {
  requires: [uniformWgsl],
  code: `fn drawn(words: vec4u) -> vec4f {
  return vec4f(
    philox_uniform(words.x), philox_uniform(words.y), philox_uniform(words.z), philox_uniform(words.w),
  );
}`,
};

/**
 * A word is kept if it is above ⌊(2^32 − 1)·p⌋, the rule of philox's `onednnRule`. With p = m·2^(e − 150),
 * where m is a 24-bit integer, this is m·2^32 − m shifted right. It is computed in integers, because a
 * product in f32 would be rounded.
 */
const bernoulli: ShaderPart = {
  code: `fn last_dropped(p: f32) -> u32 {
  let bits = bitcast<u32>(p);
  let exponent = (bits >> 23u) & 0xffu;
  if (bits >= 0x3f800000u) {
    return select(0xffffffffu, 0u, bits > 0x7f800000u);
  }
  let m = (bits & 0x7fffffu) | 0x800000u;
  let shift = 150u - exponent;
  let high = m - 1u;
  if (shift >= 56u) {
    return 0u;
  }
  if (shift >= 32u) {
    return high >> (shift - 32u);
  }
  return (high << (32u - shift)) | ((0u - m) >> shift);
}

fn drawn(words: vec4u) -> vec4<bool> {
  return words > vec4u(last_dropped(x2_pick()));
}`,
};
