import type { AttentionProblem } from '@tilewise/core';
import type { KernelGrid } from '../../../codegen/kernel-spec.ts';
import { type ShaderPart, u32Uniforms } from '../../../codegen/shader-part.ts';

/**
 * The number of vec4s that hold the result of one part of the keys for one row: (m, l, 0, 0), then the output
 * before the division by l.
 */
export const partialVectors = (Dv: number): number => 1 + Math.ceil(Dv / 4);

/**
 * The results of parts of the keys, stored in the workspace to be merged: `partial_at(row, part) -> u32` is
 * the index at which the result of a part for a row starts; rows are numbered as by `row_at`.
 */
export function partialsPart(Dv: number, parts: number, access: 'read' | 'read_write'): ShaderPart {
  return {
    bindings: [{ name: 'workspace', element: 'vec4f', access, elementBytes: 16, alignment: 16 }],
    uniforms: u32Uniforms({
      workspace_base: { offsetOf: 'workspace' },
      parts,
      partial_vectors: partialVectors(Dv),
    }),
    code: `fn partial_at(row: u32, part: u32) -> u32 {
  return P.workspace_base + (row * P.parts + part) * P.partial_vectors;
}`,
  };
}

/** The number of invocations in a workgroup in which each invocation has one vec4 of a row of o. */
export const rowVectorLanes = 64;

/**
 * The grid of workgroups in which each invocation has one vec4 of a row of o; a workgroup has adjacent vec4s
 * of one head.
 */
export function rowVectorGrid(rows: Pick<AttentionProblem, 'B' | 'Hq' | 'Sq' | 'Dv'>): KernelGrid {
  const { B, Hq, Sq, Dv } = rows;
  const vectors = Math.ceil(Dv / 4);
  return {
    ...{ batches: B, heads: Hq, tiles: Math.ceil((Sq * vectors) / rowVectorLanes) },
    ...{ side: 'q', rows: rowVectorLanes / vectors },
  };
}
