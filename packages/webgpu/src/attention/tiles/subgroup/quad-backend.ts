import { repeat } from '../../../codegen/text.ts';
import type { TileBackend } from '../interface/tile-backend.ts';
import { type AccumulateGemm, rowsRead, type ScoreGemm, type TileOperand } from '../interface/tile-gemms.ts';
import type { TileResults } from '../interface/tile-results.ts';
import { loopedVectors } from '../scores/score-vectors.ts';
import { sidesOf } from '../tile-operands.ts';
import { rowAt, type SubgroupTile, subgroupBackend, vectorsOf } from './subgroup-backend.ts';

/**
 * The backend of a subgroup tile whose lanes stream the rows of four lanes at a time. Every step is the
 * product of a vec4 and a 4 × 4 matrix. For the channels n of a vector, with a lane's stationary rows x and
 * the broadcast rows y:
 *
 *     scores with row e = Σ y_e,n · (x_0,n … x_3,n)          result_r,n += (y_0,n … y_3,n) · weights_r
 *
 * This text suits compilers that have few registers, store everything that changes in a loop or a branch, and
 * access an array lane by lane if its index is not constant: on SwiftShader it takes half as long as loops
 * over the four lanes.
 */
export function quadBackend(tile: SubgroupTile): TileBackend {
  return {
    ...subgroupBackend(tile),
    scoreVectors: loopedVectors(tile.grid),
    scores: (gemms, sums) => gemms.map(gemm => scores(tile, gemm, sums)).join('\n'),
    accumulate: (gemms, sums) => sums.map(sum => accumulate(tile, sum, rowsRead(gemms))).join('\n'),
    ...resultsInArrays,
  };
}

/** The number of a lane's stationary rows. */
const quadRows = 4;

/**
 * Reads the row that this lane broadcasts to the other lanes of its group. If `sums` add the row,
 * `NAME_non_finite` says whether the row contains a NaN or infinity. Vectors are tested in the loop that
 * reads them, because a test for each vector would take longer to compile.
 */
function read(operand: TileOperand, sums: readonly AccumulateGemm[]): string {
  const { name, D } = operand;
  const isSummed = sums.some(sum => sum.operand.name === name);
  return `${isSummed ? `var ${name}_non_finite = false;` : ''}
    {
      let row = ${rowAt(operand, '(subgroup_lane & 3u)')};
      for (var n = 0u; n < ${vectorsOf(D)}u; n++) {
        let x = ${name}_load4(row, 4u * n);
        ${name}_streamed[n] = x;
        ${isSummed ? `${name}_non_finite |= has_non_finite(x);` : ''}
      }
    }`;
}

/**
 * Vec4 b of a lane belongs to the b-th query: a streamed query if keys are stationary, a stationary query
 * otherwise.
 *
 * In each turn, another lane of the quad broadcasts its row: the bits of the other three lanes are masked,
 * and two swaps combine the bits of all four. A `subgroupShuffle` would take longer to compile.
 */
function scores(tile: SubgroupTile, gemm: ScoreGemm, sums: readonly AccumulateGemm[]): string {
  const { into } = gemm;
  const { held, streamed } = sidesOf(tile, gemm);
  const { name, D } = streamed;
  const vectors = vectorsOf(D);
  const rows = (n: number): string =>
    repeat(quadRows, r => `${held.name}_stationary[${r * vectors + n}]`, ', ');
  return `${read(streamed, sums)}
    var ${into}_streamed = mat4x4f();
    for (var turn = 0u; turn < 4u; turn++) {
      let is_turn = vec4u(select(0u, 0xffffffffu, (subgroup_lane & 3u) == turn));
      ${repeat(
        vectors,
        n => `let own${n} = bitcast<vec4u>(${name}_streamed[${n}]) & is_turn;
      let pair${n} = own${n} | quadSwapX(own${n});
      let broadcast${n} = bitcast<vec4f>(pair${n} | quadSwapY(pair${n}));
      let sum${n} = ${n === 0 ? '' : `sum${n - 1} + `}broadcast${n} * mat4x4f(${rows(n)});`,
      )}
      ${into}_streamed[turn] = sum${vectors - 1};
    }
    let ${into}_by_query = ${tile.stationary === 'keys' ? `${into}_streamed` : `transpose(${into}_streamed)`};
    ${repeat(4, b => `let ${into}${b} = ${into}_by_query[${b}];`)}`;
}

/**
 * Rows that contain a NaN or infinity are added in a loop over single vectors, which is short to compile and
 * rarely runs.
 */
function accumulate(tile: SubgroupTile, sum: AccumulateGemm, isRead: ReadonlySet<string>): string {
  const { into, operand, nonFiniteGuard, rescale } = sum;
  const { name, D } = operand;
  const vectors = vectorsOf(D);
  const weights = `mat4x4f(${repeat(4, sum.weight, ', ')})`;
  const broadcast = (x: string, e: number): string => `quadBroadcast(${x}, ${e}u)`;
  const add = (r: number, n: number): string => {
    const result = `${into}_rows[${r * vectors + n}]`;
    return `${result} = ${result}${rescale ? ` * ${rescale(r)}` : ''} + broadcast${n} * weights[${r}];`;
  };
  return `{
    ${isRead.has(name) ? '' : read(operand, [sum])}
    let weights = ${tile.stationary === 'keys' ? `transpose(${weights})` : weights};
    if (subgroupAny(${nonFiniteGuard} && ${name}_non_finite)) {
      ${rescale ? `let rescales = vec4f(${repeat(quadRows, rescale, ', ')});` : ''}
      for (var i = 0u; i < ${quadRows * vectors}u; i++) {
        let x = ${name}_streamed[i % ${vectors}u];
        let row_weights = weights[i / ${vectors}u];
        ${into}_rows[i] = ${into}_rows[i]${rescale ? ` * rescales[i / ${vectors}u]` : ''}
          + ${repeat(4, e => `weighted(row_weights[${e}], ${broadcast('x', e)})`, '\n          + ')};
      }
    } else {
      ${repeat(
        vectors,
        n => `let broadcast${n} = mat4x4f(${repeat(4, e => broadcast(`${name}_streamed[${n}]`, e), ', ')});
      ${repeat(quadRows, r => add(r, n))}`,
      )}
    }
    }`;
}

/**
 * A lane accumulates its results in an array, row by row: a branch that adds nothing to the array stores
 * nothing.
 */
const resultsInArrays: Pick<TileResults, 'accumulators' | 'lazyRescaling' | 'results'> = {
  accumulators: (name, D) => `var ${name}_rows = array<vec4f, ${quadRows * vectorsOf(D)}>();`,
  lazyRescaling: null,
  results: () => '',
};
