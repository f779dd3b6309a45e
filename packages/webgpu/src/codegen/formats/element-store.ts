import type { DType } from '@tilewise/core';
import { type ShaderPart, u32Uniforms } from '../shader-part.ts';
import { storageFormat } from './storage-format.ts';
import { floatWriter } from './tensor-binding.ts';

/**
 * `NAME_store(at, x)`: stores one element of a contiguous float tensor, whose name outside WGSL is `tensor`.
 */
export function elementStore(name: string, dtype: DType, tensor: string = name): ShaderPart {
  const { encode4 } = storageFormat(dtype);
  const { binding, requires, functions, storeOne } = floatWriter(tensor, dtype, false, name);
  return {
    bindings: [binding],
    uniforms: u32Uniforms({ [`${name}_base`]: { offsetOf: tensor } }),
    requires,
    code: `${functions}

fn ${name}_store(at: u32, x: f32) {
  ${storeOne(`P.${name}_base + at`, encode4 ? `${encode4('vec4f(x)')}.x` : 'x')}
}`,
  };
}
