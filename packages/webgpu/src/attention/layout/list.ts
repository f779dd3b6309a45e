import { readElement, type ShaderPart, wholeUniforms } from '../../codegen/shader-part.ts';

/**
 * A small tensor in line (lengths, offsets, slopes, sinks, block numbers): `listElement` reads it, whether
 * the kernel binds it or finds it in the workspace.
 * @param variable its name in WGSL; default: the tensor's.
 */
export function listPart(name: string, element: 'i32' | 'u32' | 'f32', variable: string = name): ShaderPart {
  return {
    bindings: [{ name, variable, element, access: 'read', elementBytes: 4, alignment: 4, gatherable: true }],
    uniforms: wholeUniforms({ [`${variable}_base`]: { offsetOf: name } }),
  };
}

/**
 * A contiguous tensor, bound as an array of words or of pairs of them; the uniform `NAME_base` is its start.
 * @param variable its name in WGSL; default: the tensor's.
 */
export function wordTensor(
  name: string,
  access: 'read' | 'read_write',
  element: 'f32' | 'u32' | 'vec2f' | 'atomic<u32>',
  variable: string = name,
): Required<Pick<ShaderPart, 'bindings' | 'uniforms'>> {
  const bytes = element === 'vec2f' ? 8 : 4;
  return {
    bindings: [{ name, variable, element, access, elementBytes: bytes, alignment: bytes }],
    uniforms: wholeUniforms({ [`${variable}_base`]: { offsetOf: name } }),
  };
}

/** WGSL expression of an element of a list. */
export const listElement = (variable: string, index: string): string =>
  readElement(variable, `P.${variable}_base + ${index}`);

/** Parts as one. */
export function together(parts: readonly ShaderPart[]): Required<Pick<ShaderPart, 'bindings' | 'uniforms'>> {
  return {
    bindings: parts.flatMap(({ bindings = [] }) => bindings),
    uniforms: parts.flatMap(({ uniforms = [] }) => uniforms),
  };
}
