import {
  type MatrixInstructions,
  subgroupMatrices,
  subgroupMatrixPart,
} from '../../../../codegen/matrices/matrix-operations.ts';
import { lanes } from '../../../../codegen/matrices/subgroup-lanes.ts';
import type { ShaderPart } from '../../../../codegen/shader-part.ts';
import { repeat } from '../../../../codegen/text.ts';
import { isCount, type TileKind } from '../../../../codegen/tile-kind.ts';
import type { Side } from '../../operands/matrix-blocks.ts';
import { matrixFetch } from '../../operands/matrix-fetch.ts';
import type { MatMulBackend, MatMulTile, StoreFour } from '../tile.ts';
import { type MatrixMatMulShape, subgroupsOf } from './shape.ts';
import {
  arraySize,
  declareFetched,
  fetchOperand,
  matrixPlace,
  type StagedOperand,
  stagedA,
  stagedArrays,
  stagedB,
  storeFetched,
  sumsPerVector,
  sumsPitch,
} from './staged-operand.ts';

/** WebGPU guarantees workgroups of 256 lanes. */
const maxSubgroups = 256 / lanes;

/** Tiles of subgroup matrices. */
export const matrixMatMulKind: TileKind<MatrixMatMulShape, MatMulTile> = {
  name: 'matrix',
  fields: ['kind', 'down', 'across', 'rows', 'columns', 'depth', 'matrix', 'pinned'],
  brokenRule({ down, across, rows, columns, depth, matrix }) {
    if (![down, across].every(isCount) || down * across > maxSubgroups || down * across > down + across)
      return `must have 2 × 2 subgroups, or 1 to ${maxSubgroups} in a row or column, got ${down} × ${across}`;
    if (![rows, columns, depth].every(n => isCount(n / 16)))
      return `must have rows, columns and depth that are multiples of 16, got ${rows} × ${columns}, depth ${depth}`;
    const { M, N, K, component } = matrix ?? {};
    return [M, N, K].every(n => n === 8 || n === 16) && (component === 'f16' || component === 'f32')
      ? null
      : 'must have a matrix of M, N and K of 8 or 16 in f16 or f32';
  },
  describe: ({ down, across, rows, columns, depth, matrix: { M, N, K, component } }) =>
    `matrices ${M}×${N}×${K} ${component}, ${down} × ${across} subgroups of ${rows} × ${columns}, depth ${depth}`,
  tile: shape => {
    const { matrix, pinned = false } = shape;
    return matMulTileWith(shape, {
      ...subgroupMatrices(matrix),
      ...{ part: () => subgroupMatrixPart(matrix, pinned), declareSubgroup: '' },
    });
  },
};

/** Makes a tile whose matrix operations are written with given instructions. */
export const matMulTileWith = (shape: MatrixMatMulShape, instructions: MatrixInstructions): MatMulTile => ({
  lanes: lanes * subgroupsOf(shape),
  M: shape.down * shape.rows,
  N: shape.across * shape.columns,
  depth: shape.depth,
  parts: [instructions.part([stagedArrays]), tileVariables(shape)],
  backend: (a, b) => matrixBackend(shape, instructions, a, b),
});

function tileVariables(shape: MatrixMatMulShape): ShaderPart {
  const { down, across, matrix } = shape;
  const array = `array<vec4<${matrix.component}>, ${arraySize(shape)}>`;
  return { code: `var<workgroup> staged: array<${array}, ${down + across}>;` };
}

/** The bytes of workgroup memory that a kernel needs. */
export const workgroupBytes = (shape: MatrixMatMulShape): number =>
  (shape.down + shape.across) * arraySize(shape) * (shape.matrix.component === 'f16' ? 8 : 16);

/**
 * The number of columns of C that a subgroup's lanes store at a time, in 16 rows: as many as fit into its
 * array.
 */
const storedColumns = (shape: MatrixMatMulShape): number =>
  [64, 32].find(n => shape.columns % n === 0 && 16 * sumsPitch(shape, n) <= arraySize(shape)) ?? 16;

/**
 * A workgroup loops over the sum, `depth` steps at a time. Lanes fetch the operands of the next steps while
 * their subgroups multiply.
 */
function matrixBackend(
  shape: MatrixMatMulShape,
  instructions: MatrixInstructions,
  a: Side,
  b: Side,
): MatMulBackend {
  const { across, depth, matrix } = shape;
  const operands = [stagedA(shape, a), stagedB(shape, b)] as const;
  const each = (text: (operand: StagedOperand) => string): string => operands.map(text).join('\n');
  const fetch = (from: string, isWhole: boolean): string =>
    each(operand => fetchOperand(shape, operand, from, isWhole));
  return {
    parts: [matrixFetch(a, matrix.component), matrixFetch(b, matrix.component)],
    lane: `${instructions.declareSubgroup}
  let own_rows = subgroup / ${across}u;
  let own_columns = subgroup % ${across}u;`,
    accumulators: eachSum(shape, (r, c) => `var c${r}_${c} = ${instructions.zero};`),
    sum: `${each(operand => declareFetched(shape, operand))}
    if (k_begin < k_end) {
      ${fetch('k_begin', false)}
    }
    for (var k0 = k_begin; k0 < k_end; k0 += ${depth}u) {
      workgroupBarrier();
      ${each(operand => storeFetched(shape, operand))}
      workgroupBarrier();
      // With two branches, the loop took a fifth less time on an H200 than with one for both.
      let next = k0 + ${depth}u;
      if (next + ${depth}u <= k_end) {
        ${fetch('next', true)}
      } else if (next < k_end) {
        ${fetch('next', false)}
      }
      ${repeat(depth / matrix.K, k => `{\n${multiply(shape, instructions, operands, k * matrix.K)}\n}`)}
    }`,
    results: store => storeResults(shape, instructions, store),
  };
}

const eachSum = (
  { rows, columns, matrix }: MatrixMatMulShape,
  text: (r: number, c: number) => string,
): string => repeat(rows / matrix.M, r => repeat(columns / matrix.N, c => text(r, c)));

/** Statements that multiply K steps of the sum, from step k of the staged ones on. */
function multiply(
  shape: MatrixMatMulShape,
  { load, multiplyAccumulate }: MatrixInstructions,
  [a, b]: readonly [StagedOperand, StagedOperand],
  k: number,
): string {
  const { rows, columns, matrix } = shape;
  const [M, N] = [rows / matrix.M, columns / matrix.N];
  const left = (r: number): string =>
    load('left', matrixPlace(shape, a, 'own_rows', { side: r * matrix.M, sum: k }));
  const right = (c: number): string =>
    load('right', matrixPlace(shape, b, 'own_columns', { side: c * matrix.N, sum: k }));
  return `${repeat(M, r => `let a${r} = ${left(r)};`)}
        ${repeat(N, c => `let b${c} = ${right(c)};`)}
        ${eachSum(shape, (r, c) => `c${r}_${c} = ${multiplyAccumulate(`a${r}`, `b${c}`, `c${r}_${c}`)};`)}`;
}

/**
 * Statements that store the sums. Lanes cannot access the elements of a matrix, so the sums go through
 * `staged`, some columns of 16 rows at a time.
 */
function storeResults(shape: MatrixMatMulShape, instructions: MatrixInstructions, store: StoreFour): string {
  const { rows, columns, matrix } = shape;
  const width = storedColumns(shape);
  const pitch = sumsPitch(shape, width);
  const perVector = sumsPerVector(shape);
  const from = (first: number): string => (first === 0 ? '' : `${first}u + `);
  const four =
    perVector === 4
      ? 'staged[subgroup][at]'
      : `vec4f(bitcast<vec2f>(staged[subgroup][at]), bitcast<vec2f>(staged[subgroup][at + 1u]))`;
  const block = (m: number, n: number): string => `{
    workgroupBarrier();
    ${repeat(16 / matrix.M, r =>
      repeat(width / matrix.N, c =>
        instructions.store(`c${m / matrix.M + r}_${n / matrix.N + c}`, {
          ...{ in: 'staged[subgroup]', stride: pitch, order: 'row_major' },
          offset: `${r * matrix.M * pitch + (c * matrix.N) / perVector}u`,
        }),
      ),
    )}
    workgroupBarrier();
    for (var v = subgroup_lane; v < ${4 * width}u; v += ${lanes}u) {
      let row = m0 + own_rows * ${rows}u + ${from(m)}v / ${width / 4}u;
      let n = n0 + own_columns * ${columns}u + ${from(n)}4u * (v % ${width / 4}u);
      if (row < P.M && n < P.N) {
        let at = v / ${width / 4}u * ${pitch}u + v % ${width / 4}u * ${4 / perVector}u;
        ${store('row', 'n', four)}
      }
    }
  }`;
  return repeat(rows / 16, m => repeat(columns / width, n => block(16 * m, width * n)));
}
