import { type KernelSpec, kernelSpec } from '../../kernel/kernel-spec.ts';
import { matrixBlocks, type Side, sideOf } from './matrix-blocks.ts';
import { matrixStart } from './matrix-start.ts';
import type { MatMulProblem } from './problem.ts';
import { resultRows } from './result-rows.ts';
import { type MatMulTile, tileLanes, tileM, tileN } from './tile.ts';

/** How the sum is shared out: over so many workgroups, each with `depth` steps of it (the last with what is left). */
export interface SumParts {
  readonly count: number;
  readonly depth: number;
}

/** Text for each of `n` numbers. */
const each = (n: number, text: (k: number) => string): string =>
  Array.from({ length: n }, (_, k) => text(k)).join('\n      ');

/**
 * C = A·B in f32: a workgroup has one tile of C and walks along the sum, `depth` steps at a time. Blocks of 4 × 4 of both
 * operands pass through workgroup memory, where vectors lie along the sides of C, whichever way they lie in the tensors. With
 * more than one part, C is the partial results: one matrix for each part, behind each other in the batch.
 *
 * No size is in the text: M, N, K and all strides are uniforms, so that problems share compiled kernels.
 */
export function productKernel(
  problem: MatMulProblem,
  tile: MatMulTile,
  parts: SumParts,
  unaligned: ReadonlySet<string>,
): KernelSpec {
  const { M, N, K, batch, A, B, C } = problem;
  const { tx, ty, rows, columns, depth } = tile;
  const [a, b] = [sideOf(A, 'M', problem, unaligned), sideOf(B, 'N', problem, unaligned)];
  const [heightM, widthN] = [ty * rows, tx * columns];
  const tilesM = Math.ceil(M / tileM(tile));
  const tilesN = Math.ceil(N / tileN(tile));
  const [outer = 1, inner = 1] =
    batch.length <= 2 ? [...batch] : [batch.reduce((n, extent) => n * extent, 1)];
  const partBatch = parts.count === 1 ? 'index' : 'index * P.parts + part';

  const body = `
  let part = group % P.parts;
  let n0 = group / P.parts % P.tiles_n * ${tileN(tile)}u;
  let tile_m = group / P.parts / P.tiles_n;
  let m0 = tile_m % P.tiles_m * ${tileM(tile)}u;
  let index = tile_m / P.tiles_m;
  let a_at = ${A.name}_start(index);
  let b_at = ${B.name}_start(index);
  let k_begin = part * P.part_depth;
  let k_end = min(P.K, k_begin + P.part_depth);
  let tx = lane % ${tx}u;
  let ty = lane / ${tx}u;
  let inside = m0 + ${tileM(tile)}u <= P.M && n0 + ${tileN(tile)}u <= P.N;
  ${each(4 * rows, r => each(columns, c => `var c${r}_${c} = vec4f();`))}
  for (var k0 = k_begin; k0 < k_end; k0 += ${depth}u) {
    if (inside && k0 + ${depth}u <= P.K) {
      ${fill(tile, a, 'a_tile', heightM, 'm0', 'a_at', 'block')}
      ${fill(tile, b, 'b_tile', widthN, 'n0', 'b_at', 'block')}
    } else {
      ${fill(tile, a, 'a_tile', heightM, 'm0', 'a_at', 'block_at_edge')}
      ${fill(tile, b, 'b_tile', widthN, 'n0', 'b_at', 'block_at_edge')}
    }
    workgroupBarrier();
    for (var k = 0u; k < ${depth}u; k++) {
      ${each(rows, r => `let a${r} = a_tile[k * ${heightM}u + ${r * ty}u + ty];`)}
      ${each(columns, c => `let b${c} = b_tile[k * ${widthN}u + ${c * tx}u + tx];`)}
      ${each(4 * rows, r => each(columns, c => `c${r}_${c} += a${r >> 2}[${r & 3}] * b${c};`))}
    }
    workgroupBarrier();
  }
  let c_at = ${C.name}_start(${partBatch});
  ${each(
    4 * rows,
    r => `let row${r} = m0 + 4u * (${(r >> 2) * ty}u + ty) + ${r & 3}u;
  if (row${r} < P.M) {
    ${each(columns, c => `${C.name}_store4(c_at, row${r}, n0 + 4u * (${c * tx}u + tx), c${r}_${c});`)}
  }`,
  )}`;

  return kernelSpec({
    name: parts.count === 1 ? 'matmul' : 'matmul part',
    groups: {
      ...{ batches: outer, heads: inner, tiles: tilesM, each: tilesN * parts.count },
      ...{ side: 'q', rows: tileM(tile), reversed: false },
    },
    workgroupSize: tileLanes(tile),
    parts: [
      {
        uniforms: [
          { name: 'M', type: 'u32', value: M },
          { name: 'N', type: 'u32', value: N },
          { name: 'K', type: 'u32', value: K },
          { name: 'tiles_m', type: 'u32', value: tilesM },
          { name: 'tiles_n', type: 'u32', value: tilesN },
          { name: 'parts', type: 'u32', value: parts.count },
          { name: 'part_depth', type: 'u32', value: parts.depth },
        ],
      },
      matrixStart(A, batch),
      matrixStart(B, batch),
      matrixStart(C, parts.count === 1 ? batch : [...batch, parts.count]),
      matrixBlocks(a),
      matrixBlocks(b),
      resultRows(C, parts.count === 1 ? N : C.rowStride, unaligned),
    ],
    declarations: `var<workgroup> a_tile: array<vec4f, ${heightM * depth}>;
var<workgroup> b_tile: array<vec4f, ${widthN * depth}>;`,
    body,
  });
}

/** Statements that load `depth` steps of `vectors` vectors of an operand; neighbouring lanes follow the tensor's own order. */
function fill(
  { tx, ty, depth }: MatMulTile,
  { matrix, vectors: along }: Side,
  tile: string,
  vectors: number,
  from: string,
  start: string,
  read: 'block' | 'block_at_edge',
): string {
  const steps = depth / 4;
  const [x, k] =
    along === 'side' ? [`n % ${vectors}u`, `n / ${vectors}u`] : [`n / ${steps}u`, `n % ${steps}u`];
  return `for (var n = lane; n < ${vectors * steps}u; n += ${tx * ty}u) {
        let x = ${x};
        let k = 4u * (${k});
        let block = ${matrix.name}_${read}(${start}, ${from} + 4u * x, k0 + k);
        ${[0, 1, 2, 3].map(c => `${tile}[(k + ${c}u) * ${vectors}u + x] = block[${c}];`).join('\n        ')}
      }`;
}
