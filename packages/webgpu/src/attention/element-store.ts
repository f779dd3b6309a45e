import type { DType } from '@tilewise/core';
import type { ShaderPart } from '../kernel/shader-part.ts';
import { storageFormat } from '../wgsl/storage-format.ts';

/**
 * `NAME_store_part(at, bits)`: replaces the two bytes, or the one, of element `at`; the rest of its word is somebody else's.
 * No other invocation writes this part, so the two steps need not be one.
 */
export function storePart(name: string, bytes: 1 | 2): string {
  const perWord = 4 / bytes;
  return `fn ${name}_store_part(at: u32, bits: u32) {
  let word = at / ${perWord}u;
  let shift = (at % ${perWord}u) * ${8 * bytes}u;
  atomicAnd(&${name}[word], ~(${2 ** (8 * bytes) - 1}u << shift));
  atomicOr(&${name}[word], bits << shift);
}`;
}

/** `NAME_store(at, x)`: one element of a contiguous float tensor, which is called `tensor` outside of WGSL. */
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
    uniforms: [{ name: `${name}_base`, type: 'u32', value: { offsetOf: tensor } }],
    requires: format.requires,
    code: `${bytes === 4 ? '' : `${storePart(name, bytes)}\n\n`}fn ${name}_store(at: u32, x: f32) {
  ${encode4 ? `${name}_store_part(${place}, ${encode4('vec4f(x)')}.x);` : `${name}[${place}] = x;`}
}`,
  };
}
