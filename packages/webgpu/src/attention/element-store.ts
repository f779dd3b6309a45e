import type { DType } from '@tilewise/core';
import type { ShaderPart } from '../kernel/shader-part.ts';
import { storageFormat } from '../wgsl/storage-format.ts';

/** Replaces one 16-bit half of a word in `name`; the other half is somebody else's. */
export function storeHalf(name: string): string {
  return `fn ${name}_store_half(at: u32, bits: u32) {
  let shift = (at & 1u) * 16u;
  // No other invocation writes this half, so the two steps need not be one.
  atomicAnd(&${name}[at >> 1u], ~(0xffffu << shift));
  atomicOr(&${name}[at >> 1u], bits << shift);
}`;
}

/** `NAME_store(at, x)`: one element of a contiguous float tensor. */
export function elementStore(name: string, dtype: DType): ShaderPart {
  const format = storageFormat(dtype);
  const { encode4 } = format;
  const place = `P.${name}_base + at`;
  return {
    bindings: [
      {
        name,
        element: encode4 ? 'atomic<u32>' : format.scalarElement,
        access: 'read_write',
        elementBytes: format.bytes,
        alignment: format.bytes,
      },
    ],
    uniforms: [{ name: `${name}_base`, type: 'u32', value: { offsetOf: name } }],
    requires: format.requires,
    code: `${encode4 ? `${storeHalf(name)}\n\n` : ''}fn ${name}_store(at: u32, x: f32) {
  ${encode4 ? `${name}_store_half(${place}, ${encode4('vec4f(x)')}.x);` : `${name}[${place}] = x;`}
}`,
  };
}
