import { wordTensor } from '../../codegen/formats/tensor-binding.ts';
import { readElement, type ShaderPart } from '../../codegen/shader-part.ts';

/**
 * A small contiguous tensor (lengths, offsets, slopes, sinks, block numbers). `listElement` reads it, whether
 * the kernel binds it or it was gathered into the workspace.
 * @param variable its name in WGSL; default: the tensor's name.
 */
export function listPart(name: string, element: 'i32' | 'u32' | 'f32', variable: string = name): ShaderPart {
  const part = wordTensor(name, 'read', element, variable);
  return { ...part, bindings: [{ ...part.bindings[0], gatherable: true }] };
}

/** WGSL expression of an element of a list. */
export const listElement = (variable: string, index: string): string =>
  readElement(variable, `P.${variable}_base + ${index}`);

/** Joins parts into one. */
export function joinParts(parts: readonly ShaderPart[]): Required<Pick<ShaderPart, 'bindings' | 'uniforms'>> {
  return {
    bindings: parts.flatMap(({ bindings = [] }) => bindings),
    uniforms: parts.flatMap(({ uniforms = [] }) => uniforms),
  };
}
