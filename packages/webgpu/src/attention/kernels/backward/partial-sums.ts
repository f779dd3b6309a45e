import { type ShaderPart, wholeUniforms } from '../../../codegen/shader-part.ts';

/** The region of the workspace in which one kernel leaves sums that the next one adds up. */
export const partialSums = 'workspace.sums';

/** Binds the region of partial sums as vectors of two floats; the uniform `P.sums_base` is its start. */
export function partialSumsPart(access: 'read' | 'read_write'): ShaderPart {
  return {
    bindings: [
      {
        name: partialSums,
        variable: 'partial_sums',
        element: 'vec2f',
        access,
        elementBytes: 8,
        alignment: 8,
      },
    ],
    uniforms: wholeUniforms({ sums_base: { offsetOf: partialSums } }),
  };
}
