import { matrixBlocks, type Side } from '../operands/matrix-blocks.ts';
import type { WorkgroupTile } from './tile.ts';
import { each, type TileWork } from './tile-work.ts';

/**
 * A workgroup walks along the sum, `depth` steps at a time. Blocks of 4 × 4 of both operands pass through workgroup memory,
 * where vectors lie along the sides of C, whichever way they lie in the tensors.
 */
export function workgroupWork(tile: WorkgroupTile, a: Side, b: Side): TileWork {
  const { tx, ty, rows, columns, depth } = tile;
  const [heightM, widthN] = [ty * rows, tx * columns];
  const fillBoth = (
    read: 'block' | 'block_at_edge',
  ): string => `${fill(tile, a, 'a_tile', heightM, 'm0', 'a_at', read)}
      ${fill(tile, b, 'b_tile', widthN, 'n0', 'b_at', read)}`;
  return {
    parts: [matrixBlocks(a), matrixBlocks(b)],
    declarations: `var<workgroup> a_tile: array<vec4f, ${heightM * depth}>;
var<workgroup> b_tile: array<vec4f, ${widthN * depth}>;`,
    place: `let tx = lane % ${tx}u;
  let ty = lane / ${tx}u;`,
    ...{ rows, columns },
    row: r => `${r * ty}u + ty`,
    column: c => `${c * tx}u + tx`,
    sum: `for (var k0 = k_begin; k0 < k_end; k0 += ${depth}u) {
    if (inside && k0 + ${depth}u <= P.K) {
      ${fillBoth('block')}
    } else {
      ${fillBoth('block_at_edge')}
    }
    workgroupBarrier();
    for (var k = 0u; k < ${depth}u; k++) {
      ${each(rows, r => `let a${r} = a_tile[k * ${heightM}u + ${r * ty}u + ty];`)}
      ${each(columns, c => `let b${c} = b_tile[k * ${widthN}u + ${c * tx}u + tx];`)}
      ${each(4 * rows, r => each(columns, c => `c${r}_${c} += a${r >> 2}[${r & 3}] * b${c};`))}
    }
    workgroupBarrier();
  }`,
  };
}

/** Statements that load `depth` steps of `vectors` vectors of an operand; neighbouring lanes follow the tensor's own order. */
function fill(
  { tx, ty, depth }: WorkgroupTile,
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
