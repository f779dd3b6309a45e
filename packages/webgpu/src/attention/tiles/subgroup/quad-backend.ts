import { repeat, type SubgroupTile } from '../tile.ts';
import {
  type Product,
  rowsRead,
  type TileOperand,
  type TileResults,
  type TileWork,
  type WeightedSum,
} from '../tile-backend.ts';
import { kept, met, rowAt, subgroupWork, vectorsOf } from './subgroup-backend.ts';

/**
 * The work of a tile of a subgroup whose lanes meet the rows of four neighbours at a time. All of it is vectors of four times matrices of
 * four rows, of the channels n that a vector holds: of those that a lane keeps, and of those that it is shown.
 *
 *     products with row e = Σ shown_e,n · (kept_0,n … kept_3,n)          result_r,n += (shown_0,n … shown_3,n) · weights_r
 *
 * It is for compilers that have few registers, store all that changes in a loop or a branch, and find the place in an array lane by lane
 * where it is not known when this is written: SwiftShader's takes half as long for it as for loops over the neighbours.
 */
export function quadWork(tile: SubgroupTile): TileWork {
  return {
    ...subgroupWork(tile),
    products: all => all.map(product => products(tile, product)).join('\n    '),
    accumulate: (all, ...sums) => sums.map(sum => accumulate(tile, sum, rowsRead(all))).join('\n    '),
    ...resultsInArrays,
  };
}

/** Rows that a lane keeps. */
const quadRows = 4;

const perKept = (text: (r: number) => string, separator = '\n      '): string =>
  repeat(quadRows, text, separator);

/** Reads the row that this lane shows its neighbours. */
const read = (operand: TileOperand): string => {
  const { name, D } = operand;
  return `{
      let row = ${rowAt(operand, '(subgroup_lane & 3u)')};
      ${repeat(vectorsOf(D), n => `${name}_read[${n}] = ${name}_load4(row, ${4 * n}u);`, '\n      ')}
    }`;
};

/** Vec4 b of a lane that keeps keys is of the b-th query that it meets; of one that keeps queries, of the b-th of these. */
function products(tile: SubgroupTile, product: Product): string {
  const { into } = product;
  const { name, D } = met(tile, product);
  const vectors = vectorsOf(D);
  const rows = (n: number): string =>
    perKept(r => `${kept(tile, product).name}_kept[${r * vectors + n}]`, ', ');
  return `${read(met(tile, product))}
    var ${into}_met = mat4x4f();
    for (var turn = 0u; turn < 4u; turn++) {
      ${repeat(
        vectors,
        n => `let shown${n} = subgroupShuffle(${name}_read[${n}], turn);
      let sum${n} = ${n === 0 ? '' : `sum${n - 1} + `}shown${n} * mat4x4f(${rows(n)});`,
        '\n      ',
      )}
      ${into}_met[turn] = sum${vectors - 1};
    }
    let ${into}_own = ${tile.own === 'keys' ? `${into}_met` : `transpose(${into}_met)`};
    ${repeat(4, b => `let ${into}${b} = ${into}_own[${b}];`, '\n    ')}`;
}

/** Only garbage is looked at closely. */
function accumulate(tile: SubgroupTile, sum: WeightedSum, isRead: ReadonlySet<string>): string {
  const { into, operand, watch, rescale } = sum;
  const { name, D } = operand;
  const vectors = vectorsOf(D);
  const result = (r: number, n: number): string => `${into}[${r * vectors + n}]`;
  const weights = `mat4x4f(${repeat(4, sum.weight, ', ')})`;
  return `{
    ${isRead.has(name) ? '' : read(operand)}
    let weights = ${tile.own === 'keys' ? `transpose(${weights})` : weights};
    let garbage = ${watch} && (${repeat(vectors, n => `has_non_finite(${name}_read[${n}])`, ' | ')});
    if (subgroupAny(garbage)) {
      for (var n = 0u; n < ${vectors}u; n++) {
        ${rescale ? perKept(r => `${into}[${r * vectors}u + n] *= ${rescale(r)};`, '\n        ') : ''}
        for (var turn = 0u; turn < 4u; turn++) {
          let shown = subgroupShuffle(${name}_read[n], turn);
          ${perKept(r => `${into}[${r * vectors}u + n] += weighted(weights[${r}][turn], shown);`, '\n          ')}
        }
      }
    } else {
      ${repeat(
        vectors,
        n => `let shown${n} = mat4x4f(${repeat(4, e => `subgroupBroadcast(${name}_read[${n}], ${e}u)`, ', ')});
      ${perKept(r => `${result(r, n)} = ${result(r, n)}${rescale ? ` * ${rescale(r)}` : ''} + shown${n} * weights[${r}];`)}`,
        '\n      ',
      )}
    }
    }`;
}

/** Results that a lane accumulates in an array, row by row: where a branch adds to it, the other one stores nothing. */
const resultsInArrays: Omit<TileResults, 'resultRows' | 'resultPlace' | 'vectors' | 'vector'> = {
  accumulators: (name, D) => `var ${name} = array<vec4f, ${quadRows * vectorsOf(D)}>();`,
  isSlowToRescale: false,
  results: (name, D) =>
    perKept(
      r => repeat(vectorsOf(D), n => `let ${name}${r}_${n} = ${name}[${r * vectorsOf(D) + n}];`, '\n  '),
      '\n  ',
    ),
};
