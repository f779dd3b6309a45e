import { rowPadding } from '../../../codegen/matrices/subgroup-lanes.ts';
import { repeat } from '../../../codegen/text.ts';
import type { AccumulateGemm, ScoreGemm, ScoreGemms } from '../interface/tile-gemms.ts';
import { sidesOf } from '../tile-operands.ts';
import {
  block,
  blocks,
  firstOfLane,
  heldRows,
  scratchPitch,
  stagedArray,
  stagedPitch,
  streamedRows,
  weightsSize,
  width,
} from './memory.ts';
import type { MatrixTile, MatrixTileShape } from './shape.ts';
import { stageHeld, streamsOf } from './stage.ts';

/**
 * The rows of held and of streamed matrices: queries are rows of left matrices, and keys are columns of right
 * matrices.
 */
const sizesOf = ({
  stationary,
  matrix: { M, N },
}: MatrixTileShape): { readonly heldSize: number; readonly streamedSize: number } =>
  stationary === 'queries' ? { heldSize: M, streamedSize: N } : { heldSize: N, streamedSize: M };

const heldMatrix = (name: string, d: number, r: number): string => `held_${name}_${d}_${r}`;

/**
 * Declares the matrices of a subgroup's held rows: the r-th matrix, starting at channel d. They pass through
 * the subgroup's part of `weights`.
 */
export function loadHeld(tile: MatrixTile, gemm: ScoreGemm): string {
  const { held } = sidesOf(tile, gemm);
  const { heldSize } = sizesOf(tile);
  const { K } = tile.matrix;
  const fitting = Math.floor((weightsSize(tile) / heldRows(tile) - rowPadding(tile.matrix)) / width(block));
  const whole = blocks(held.D);
  return repeat(Math.ceil(whole / fitting), part => {
    const first = part * fitting;
    const count = Math.min(fitting, whole - first);
    const vectors = count * width(block);
    const stride = vectors + rowPadding(tile.matrix);
    const matrices = repeat((count * block) / K, n =>
      repeat(heldRows(tile) / heldSize, r => {
        const value = tile.instructions.load(tile.stationary === 'queries' ? 'left' : 'right', {
          in: 'weights',
          offset: `own_weights + ${r * heldSize * stride + (n * K) / 4}u`,
          stride,
          order: tile.stationary === 'queries' ? 'row_major' : 'col_major',
        });
        return `let ${heldMatrix(held.name, first * block + n * K, r)} = ${value};`;
      }),
    );
    return `${stageHeld(tile, held, { first: first * width(block), vectors })}\n    ${matrices}`;
  });
}

/**
 * Computes matrices of products in `scratch`, one after the other, and reads each into the lanes' `INTOb`.
 * Before that, stages all streamed rows of the tile in workgroup memory.
 */
export function scores(
  tile: MatrixTile,
  gemms: ScoreGemms,
  sums: readonly AccumulateGemm[],
  skips: boolean,
): string {
  const { start, beforeProducts } = streamsOf(tile, gemms, sums);
  return `var own_flags = 0u;
    ${skips ? start : ''}
    ${beforeProducts}
    ${gemms
      .map(gemm => `${multiply(tile, gemm)}\n    workgroupBarrier();\n    ${read(tile, gemm)}`)
      .join('\n    workgroupBarrier();\n    ')}`;
}

function multiply(tile: MatrixTile, gemm: ScoreGemm): string {
  const { stationary, instructions } = tile;
  const { zero, load, multiplyAccumulate, store } = instructions;
  const { held, streamed } = sidesOf(tile, gemm);
  const { heldSize, streamedSize } = sizesOf(tile);
  const { K } = tile.matrix;
  const pitch = stagedPitch(tile, streamed.D);
  const sum = (m: number, r: number): string => `${gemm.into}_sum${m}_${r}`;
  const perSum = (text: (m: number, r: number) => string): string =>
    repeat(streamedRows(tile) / streamedSize, m => repeat(heldRows(tile) / heldSize, r => text(m, r)));
  const one = (d: number, m: number): string => {
    const other = load(stationary === 'queries' ? 'right' : 'left', {
      ...{ in: stagedArray(streamed), offset: `${m * streamedSize * pitch + (d * K) / 4}u`, stride: pitch },
      order: stationary === 'queries' ? 'col_major' : 'row_major',
    });
    const heldRow = (r: number): string => heldMatrix(held.name, d * K, r);
    return `{
      let streamed = ${other};
      ${repeat(
        heldRows(tile) / heldSize,
        r =>
          `${sum(m, r)} = ${stationary === 'queries' ? multiplyAccumulate(heldRow(r), 'streamed', sum(m, r)) : multiplyAccumulate('streamed', heldRow(r), sum(m, r))};`,
      )}
    }`;
  };
  const stored = (m: number, r: number): string => {
    const [row, column] =
      stationary === 'queries' ? [r * heldSize, m * streamedSize] : [m * streamedSize, r * heldSize];
    const stride = scratchPitch(tile);
    const offset = `${row * stride + column / 4}u`;
    return store(sum(m, r), { in: 'scratch[subgroup]', offset, stride, order: 'row_major' });
  };
  return `${perSum((m, r) => `var ${sum(m, r)} = ${zero};`)}
    ${repeat((blocks(streamed.D) * block) / K, d => repeat(streamedRows(tile) / streamedSize, m => one(d, m)))}
    ${perSum(stored)}`;
}

/** Declares the lane's four vec4s of scores. */
function read(tile: MatrixTileShape, { into }: ScoreGemm): string {
  const first = firstOfLane(tile, scratchPitch(tile));
  return repeat(4, b => `let ${into}${b} = scratch[subgroup][${first} + ${b}u];`);
}
