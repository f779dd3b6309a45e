import type { ShaderPart } from '../kernel/shader-part.ts';

/** vec4s that hold what one part of the keys gives for one row: (m, l, 0, 0), then its output before the division by l. */
export const partialVectors = (Dv: number): number => 1 + Math.ceil(Dv / 4);

/**
 * Results of parts of the keys, waiting in the workspace to be merged: `partial_at(row, part) -> u32` is where that of a row
 * starts, with rows counted as `row_at` does.
 */
export function partialsPart(Dv: number, parts: number, access: 'read' | 'read_write'): ShaderPart {
  return {
    bindings: [{ name: 'workspace', element: 'vec4f', access, elementBytes: 16, alignment: 16 }],
    uniforms: [
      { name: 'workspace_base', type: 'u32', value: { offsetOf: 'workspace' } },
      { name: 'parts', type: 'u32', value: parts },
      { name: 'partial_vectors', type: 'u32', value: partialVectors(Dv) },
    ],
    code: `fn partial_at(row: u32, part: u32) -> u32 {
  return P.workspace_base + (row * P.parts + part) * P.partial_vectors;
}`,
  };
}
