import type { DType } from '@tilewise/core';
import { type ShaderPart, wholeUniforms } from '../shader-part.ts';
import { storageFormat } from './storage-format.ts';
import { storePart } from './store-part.ts';

/**
 * `NAME_store(at, x)`: one element of a contiguous float tensor, which is called `tensor` outside of WGSL.
 */
export function elementStore(name: string, dtype: DType, tensor: string = name): ShaderPart {
  const format = storageFormat(dtype);
  const { encode4, bytes } = format;
  const place = `P.${name}_base + at`;
  return {
    bindings: [
      {
        name: tensor,
        variable: name,
        element: encode4 ? 'atomic<u32>' : format.scalarElement,
        access: 'read_write',
        elementBytes: format.bytes,
        alignment: format.bytes,
      },
    ],
    uniforms: wholeUniforms({ [`${name}_base`]: { offsetOf: tensor } }),
    requires: format.requires,
    code: `${bytes === 4 ? '' : `${storePart(name, bytes)}\n\n`}fn ${name}_store(at: u32, x: f32) {
  ${encode4 ? `${name}_store_part(${place}, ${encode4('vec4f(x)')}.x);` : `${name}[${place}] = x;`}
}`,
  };
}
