import type { ShaderPart } from '../../../codegen/shader-part.ts';
import { repeat } from '../../../codegen/text.ts';
import { isCount, type TileKind } from '../../../codegen/tile-kind.ts';
import { matrixBlocks, type Side } from '../operands/matrix-blocks.ts';
import { declareInside, laneBlocks } from './lane-blocks.ts';
import type { MatMulBackend, MatMulTile } from './tile.ts';

/**
 * A grid of tx × ty lanes. A lane accumulates `rows` × `columns` blocks of 4 × 4, which are ty and tx blocks
 * apart, so that adjacent lanes read adjacent vectors. `depth` steps of the sum pass through workgroup memory
 * at a time.
 */
export interface WorkgroupMatMulShape {
  readonly kind?: 'workgroup';
  readonly tx: number;
  readonly ty: number;
  readonly rows: number;
  readonly columns: number;
  /** A multiple of 4. */
  readonly depth: number;
}

/** Tiles whose operands pass through workgroup memory. */
export const workgroupMatMulKind: TileKind<WorkgroupMatMulShape, MatMulTile> = {
  name: 'workgroup',
  fields: ['kind', 'tx', 'ty', 'rows', 'columns', 'depth'],
  brokenRule: ({ tx, ty, rows, columns, depth }) =>
    [tx, ty, rows, columns, depth / 4].every(isCount)
      ? null
      : `must have whole numbers of lanes and blocks, and a depth that is a multiple of 4, got ${depth}`,
  describe: ({ tx, ty, rows, columns, depth }) =>
    `workgroup, ${tx} × ${ty} lanes, ${rows} × ${columns} blocks, depth ${depth}`,
  tile: shape => ({
    lanes: shape.tx * shape.ty,
    ...tileSize(shape),
    depth: shape.depth,
    parts: [tileVariables(shape)],
    backend: (a, b) => workgroupBackend(shape, a, b),
  }),
};

const tileSize = ({ tx, ty, rows, columns }: WorkgroupMatMulShape) => ({
  M: 4 * ty * rows,
  N: 4 * tx * columns,
});

const tileVariables = ({ tx, ty, rows, columns, depth }: WorkgroupMatMulShape): ShaderPart => ({
  code: `var<workgroup> a_tile: array<vec4f, ${ty * rows * depth}>;
var<workgroup> b_tile: array<vec4f, ${tx * columns * depth}>;`,
});

/**
 * A workgroup loops over the sum, `depth` steps at a time. Blocks of 4 × 4 of both operands pass through
 * workgroup memory, in which vectors run along the sides of C, whatever their direction in the tensors.
 */
function workgroupBackend(tile: WorkgroupMatMulShape, a: Side, b: Side): MatMulBackend {
  const { tx, ty, rows, columns, depth } = tile;
  const [heightM, widthN] = [ty * rows, tx * columns];
  const fillBoth = (
    read: 'block' | 'block_at_edge',
  ): string => `${fill(tile, a, 'a_tile', heightM, 'm0', 'a_at', read)}
      ${fill(tile, b, 'b_tile', widthN, 'n0', 'b_at', read)}`;
  return {
    parts: [matrixBlocks(a), matrixBlocks(b)],
    lane: `let tx = lane % ${tx}u;
  let ty = lane / ${tx}u;
  ${declareInside(tileSize(tile))}`,
    ...laneBlocks({
      ...{ rows, columns },
      row: r => `${r * ty}u + ty`,
      column: c => `${c * tx}u + tx`,
    }),
    sum: `for (var k0 = k_begin; k0 < k_end; k0 += ${depth}u) {
    if (inside && k0 + ${depth}u <= P.${a.matrix.name}_K) {
      ${fillBoth('block')}
    } else {
      ${fillBoth('block_at_edge')}
    }
    workgroupBarrier();
    for (var k = 0u; k < ${depth}u; k++) {
      ${repeat(rows, r => `let a${r} = a_tile[k * ${heightM}u + ${r * ty}u + ty];`)}
      ${repeat(columns, c => `let b${c} = b_tile[k * ${widthN}u + ${c * tx}u + tx];`)}
      ${repeat(4 * rows, r => repeat(columns, c => `c${r}_${c} += a${r >> 2}[${r & 3}] * b${c};`))}
    }
    workgroupBarrier();
  }`,
  };
}

/**
 * Statements that load `depth` steps of `vectors` vectors of an operand; adjacent lanes follow the tensor's
 * own order.
 */
function fill(
  { tx, ty, depth }: WorkgroupMatMulShape,
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
