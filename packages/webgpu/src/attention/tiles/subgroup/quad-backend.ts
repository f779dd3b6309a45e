import { repeat } from '../../../codegen/text.ts';
import { loopedVectors } from '../scores/score-vectors.ts';
import {
  type AccumulateGemm,
  rowsRead,
  type ScoreGemm,
  type TileBackend,
  type TileOperand,
  type TileResults,
} from '../tile-backend.ts';
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
    scores: gemms => gemms.map(gemm => scores(tile, gemm)).join('\n'),
    accumulate: (gemms, sums) => sums.map(sum => accumulate(tile, sum, rowsRead(gemms))).join('\n'),
    ...resultsInArrays,
  };
}

/** The number of a lane's stationary rows. */
const quadRows = 4;

/** Reads the row that this lane broadcasts to the other lanes of its group. */
const read = (operand: TileOperand): string => {
  const { name, D } = operand;
  return `{
      let row = ${rowAt(operand, '(subgroup_lane & 3u)')};
      for (var n = 0u; n < ${vectorsOf(D)}u; n++) {
        ${name}_streamed[n] = ${name}_load4(row, 4u * n);
      }
    }`;
};

/**
 * Vec4 b of a lane belongs to the b-th query: a streamed query if keys are stationary, a stationary query
 * otherwise.
 */
function scores(tile: SubgroupTile, gemm: ScoreGemm): string {
  const { into } = gemm;
  const { held, streamed } = sidesOf(tile, gemm);
  const { name, D } = streamed;
  const vectors = vectorsOf(D);
  const rows = (n: number): string =>
    repeat(quadRows, r => `${held.name}_stationary[${r * vectors + n}]`, ', ');
  return `${read(streamed)}
    var ${into}_streamed = mat4x4f();
    for (var turn = 0u; turn < 4u; turn++) {
      ${repeat(
        vectors,
        n => `let broadcast${n} = subgroupShuffle(${name}_streamed[${n}], turn);
      let sum${n} = ${n === 0 ? '' : `sum${n - 1} + `}broadcast${n} * mat4x4f(${rows(n)});`,
      )}
      ${into}_streamed[turn] = sum${vectors - 1};
    }
    let ${into}_by_query = ${tile.stationary === 'keys' ? `${into}_streamed` : `transpose(${into}_streamed)`};
    ${repeat(4, b => `let ${into}${b} = ${into}_by_query[${b}];`)}`;
}

/** The loop handles rows that contain a NaN or infinity. */
function accumulate(tile: SubgroupTile, sum: AccumulateGemm, isRead: ReadonlySet<string>): string {
  const { into, operand, nonFiniteGuard, rescale } = sum;
  const { name, D } = operand;
  const vectors = vectorsOf(D);
  const weights = `mat4x4f(${repeat(4, sum.weight, ', ')})`;
  const broadcasts = (n: number | 'n'): string =>
    repeat(4, e => `subgroupBroadcast(${name}_streamed[${n}], ${e}u)`, ', ');
  /** Statements that add to the n-th vector of each stationary row. */
  const add = (n: number | 'n', addend: (r: number) => string): string =>
    repeat(quadRows, r => {
      const result = `${into}_rows[${n === 'n' ? `${r * vectors}u + n` : r * vectors + n}]`;
      return `${result} = ${result}${rescale ? ` * ${rescale(r)}` : ''} + ${addend(r)};`;
    });
  return `{
    ${isRead.has(name) ? '' : read(operand)}
    let weights = ${tile.stationary === 'keys' ? `transpose(${weights})` : weights};
    let non_finite = ${nonFiniteGuard} && (${repeat(vectors, n => `has_non_finite(${name}_streamed[${n}])`, ' | ')});
    if (subgroupAny(non_finite)) {
      for (var n = 0u; n < ${vectors}u; n++) {
        let broadcast = mat4x4f(${broadcasts('n')});
        ${add('n', r => repeat(4, e => `weighted(weights[${r}][${e}], broadcast[${e}])`, ' + '))}
      }
    } else {
      ${repeat(
        vectors,
        n => `let broadcast${n} = mat4x4f(${broadcasts(n)});
      ${add(n, r => `broadcast${n} * weights[${r}]`)}`,
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
