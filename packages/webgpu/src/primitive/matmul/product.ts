import { elementCount } from '@tilewise/core';
import { type KernelSpec, kernelSpec } from '../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../codegen/shader-part.ts';
import { epilogueParts, withEpilogue } from './epilogue.ts';
import { sideOf } from './operands/matrix-blocks.ts';
import { matrixStart } from './operands/matrix-start.ts';
import type { MatMulProblem } from './problem.ts';
import { resultRows } from './result-rows.ts';
import type { MatMulTile, StoreFour, SumParts } from './tiles/tile.ts';

/**
 * True if each tile has all rows of C. A dispatch of some workgroups then computes some of the columns.
 */
export const hasAllRows = ({ M }: MatMulProblem, tile: MatMulTile): boolean => M > 0 && M <= tile.M;

/**
 * C = Σ A·B in f32: a workgroup has one tile of C, and loops over the sum of one term after the other. With
 * more than one part, C contains the partial results: one matrix per part, one after the other in the batch.
 *
 * The text contains no sizes: M, N, K and all strides are uniforms, so that problems share compiled kernels.
 */
export function productKernel(
  problem: MatMulProblem,
  tile: MatMulTile,
  parts: SumParts,
  unaligned: ReadonlySet<string>,
): KernelSpec {
  const { M, N, batch, terms, C } = problem;
  const backends = terms.map(({ K, A, B }) =>
    tile.backend(sideOf(A, 'M', { M, N, K }, unaligned), sideOf(B, 'N', { M, N, K }, unaligned)),
  );
  const [{ lane, accumulators, results }] = backends;
  const tilesM = Math.ceil(M / tile.M);
  const tilesN = Math.ceil(N / tile.N);
  const [outer = 1, inner = 1] = batch.length <= 2 ? batch : [elementCount(batch)];
  const partBatch = parts.count === 1 ? 'index' : 'index * P.parts + part';

  const store: StoreFour = (row, n, x) =>
    `${C.name}_store4(c_at, ${row}, ${n}, ${withEpilogue(problem, `index, ${row}, ${n}`, x)});`;

  const body = `
  let part = group % P.parts;
  let n0 = group / P.parts % P.tiles_n * ${tile.N}u;
  let tile_m = group / P.parts / P.tiles_n;
  let m0 = tile_m % P.tiles_m * ${tile.M}u;
  let index = tile_m / P.tiles_m;
  let k_begin = part * P.part_depth;
  ${lane}
  ${accumulators}
  ${backends
    .map(
      ({ sum }, n) => `{
    let a_at = ${terms[n].A.name}_start(index);
    let b_at = ${terms[n].B.name}_start(index);
    let k_end = min(P.${terms[n].A.name}_K, k_begin + P.part_depth);
    ${sum}
  }`,
    )
    .join('\n  ')}
  let c_at = ${C.name}_start(${partBatch});
  ${results(store)}`;

  return kernelSpec({
    name: parts.count === 1 ? 'matmul' : 'matmul part',
    groups: {
      ...{ batches: outer, heads: inner, side: 'q' },
      ...(hasAllRows(problem, tile)
        ? { tiles: tilesN, workgroups: parts.count, rows: tile.N }
        : { tiles: tilesM, workgroups: tilesN * parts.count, rows: tile.M }),
    },
    workgroupSize: tile.lanes,
    parts: [
      {
        uniforms: [
          ...u32Uniforms({ M, N, tiles_m: tilesM, tiles_n: tilesN }),
          ...u32Uniforms({ parts: parts.count, part_depth: parts.depth }),
        ],
      },
      ...terms.flatMap(({ A, B }) => [matrixStart(A, batch), matrixStart(B, batch)]),
      matrixStart(C, parts.count === 1 ? batch : [...batch, parts.count]),
      ...tile.parts,
      ...backends.flatMap(own => own.parts),
      ...epilogueParts(problem),
      resultRows(C, parts.count === 1 ? N : C.rowStride, unaligned),
    ],
    body,
  });
}
