import { repeat } from '../../../codegen/text.ts';
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
 * The backend of a subgroup tile whose lanes stream the rows of four neighbours at a time. Everything is a
 * product of a vec4 and a matrix of four rows, of the channels n that a vector holds, where x are a lane's
 * stationary rows and y the broadcast rows:
 *
 *     scores with row e = Σ y_e,n · (x_0,n … x_3,n)          result_r,n += (y_0,n … y_3,n) · weights_r
 *
 * This text is for compilers that have few registers, store all that changes in a loop or a branch, and
 * address an array lane by lane where the text does not name the place: SwiftShader takes half as long for it
 * as for loops over the neighbours.
 */
export function quadBackend(tile: SubgroupTile): TileBackend {
  return {
    ...subgroupBackend(tile),
    scores: gemms => gemms.map(gemm => scores(tile, gemm)).join('\n'),
    accumulate: (gemms, ...sums) => sums.map(sum => accumulate(tile, sum, rowsRead(gemms))).join('\n'),
    ...resultsInArrays,
  };
}

/** Stationary rows of a lane. */
const quadRows = 4;

/** Reads the row that this lane broadcasts to its neighbours. */
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
 * Vec4 b of a lane is of the b-th streamed query where keys are stationary, and of the b-th stationary query
 * where queries are.
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

/** The loop is for rows that hold a NaN or infinity. */
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
 * Results that a lane accumulates in an array, row by row: a branch that does not add to it stores nothing.
 */
const resultsInArrays: Pick<TileResults, 'accumulators' | 'isSlowToRescale' | 'results'> = {
  accumulators: (name, D) => `var ${name}_rows = array<vec4f, ${quadRows * vectorsOf(D)}>();`,
  isSlowToRescale: false,
  results: () => '',
};
