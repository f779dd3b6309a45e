import { readElement, type ShaderPart, wholeUniforms } from '../../codegen/shader-part.ts';

/**
 * A small contiguous tensor (lengths, offsets, slopes, sinks, block numbers). `listElement` reads it, whether
 * the kernel binds it or it was gathered into the workspace.
 * @param variable its name in WGSL; default: the tensor's name.
 */
export function listPart(name: string, element: 'i32' | 'u32' | 'f32', variable: string = name): ShaderPart {
  return {
    bindings: [{ name, variable, element, access: 'read', elementBytes: 4, alignment: 4, gatherable: true }],
    uniforms: wholeUniforms({ [`${variable}_base`]: { offsetOf: name } }),
  };
}

/**
 * A contiguous tensor, bound as an array of words or of pairs of words; it starts at the uniform `NAME_base`.
 * @param variable its name in WGSL; default: the tensor's name.
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

/** Joins parts into one. */
export function together(parts: readonly ShaderPart[]): Required<Pick<ShaderPart, 'bindings' | 'uniforms'>> {
  return {
    bindings: parts.flatMap(({ bindings = [] }) => bindings),
    uniforms: parts.flatMap(({ uniforms = [] }) => uniforms),
  };
}
