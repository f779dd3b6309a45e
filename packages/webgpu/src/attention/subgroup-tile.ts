import { subgroupLane } from '../kernel/subgroup-lane.ts';
import { keptRows, laneGrid, repeat, type SubgroupTile } from './tile.ts';
import {
  type Product,
  rescaleOfLanes,
  resultsOfLanes,
  rowsRead,
  type TileOperand,
  type TileWork,
  type WeightedSum,
  weightedPart,
} from './tile-work.ts';
import { statisticInMemory } from './workgroup-statistics.ts';

/**
 * A lane keeps its rows and their accumulators in registers, and gets the rows of the other side from its neighbours. Four keys are what
 * a vec4 of scores is of, so that one that keeps keys has whole vectors too.
 *
 * Such text is large, and what compilers make of it larger than caches of instructions: rows are read and products summed in loops.
 */
export function subgroupWork(tile: SubgroupTile): TileWork {
  const own = { resultRows: keptRows, resultPlace: 'lane', vectors: vectorsOf, vector: vectorOf };
  return {
    parts: () => [subgroupLane, weightedPart],
    place: tile.own === 'queries' ? 'let tx = 0u;\n  let ty = lane;' : 'let tx = lane;\n  let ty = 0u;',
    keep: (all, summed) => keep(tile, all, summed),
    products: all =>
      all.map(product => `${read(tile, met(tile, product))}\n    ${products(tile, product)}`).join('\n    '),
    statistic: statistic => statisticInMemory(laneGrid(tile), statistic),
    accumulate: (all, ...sums) =>
      sums
        .map(sum => `${rescaleOfLanes(own, sum)}\n    ${accumulate(tile, sum, rowsRead(all))}`)
        .join('\n    '),
    ...resultsOfLanes(own),
  };
}

export const vectorsOf = (D: number): number => Math.ceil(D / 4);
const vectorOf = (n: number): string => `${n}u`;

/** Of a product, the operand whose rows a lane keeps, and the one whose rows it meets. */
export const kept = ({ own }: SubgroupTile, { a, b }: Product): TileOperand => (own === 'queries' ? a : b);
export const met = ({ own }: SubgroupTile, { a, b }: Product): TileOperand => (own === 'queries' ? b : a);

/** Where a row starts. One beyond the end is taken for the last, and of none for the first: it has weight 0 and no result. */
export const rowAt = ({ row, first, end }: TileOperand, place: string): string =>
  row(`min(${first} + ${place}, max(${end}, 1u) - 1u)`);

const perKept = (text: (r: number) => string, separator = '\n      '): string =>
  repeat(keptRows, text, separator);

/** Reads the rows that a lane keeps, and declares room for those that it reads for its neighbours. */
function keep(tile: SubgroupTile, all: readonly Product[], summed: readonly TileOperand[]): string {
  const own = all.map(product => kept(tile, product));
  const others = [...all.map(product => met(tile, product)), ...summed];
  const names = new Map(others.map(operand => [operand.name, operand]));
  return `${own
    .map(operand => {
      const { name, channels, D } = operand;
      const vectors = vectorsOf(D);
      return `var ${name}_kept = array<vec4f, ${keptRows * vectors}>();
  for (var r = 0u; r < ${keptRows}u; r++) {
    let row = ${rowAt(operand, `lane * ${keptRows}u + r`)};
    for (var d = 0u; d < ${channels}; d += 4u) {
      ${name}_kept[r * ${vectors}u + d / 4u] = ${name}_load4(row, d);
    }
  }`;
    })
    .join('\n  ')}
  ${[...names.values()].map(({ name, D }) => `var ${name}_read = array<vec4f, ${vectorsOf(D)}>();`).join('\n  ')}`;
}

/** Reads the row that this lane shows its neighbours. */
const read = ({ group }: SubgroupTile, operand: TileOperand): string => {
  const { name, channels } = operand;
  return `{
      let row = ${rowAt(operand, `(subgroup_lane & ${group - 1}u)`)};
      for (var d = 0u; d < ${channels}; d += 4u) {
        ${name}_read[d / 4u] = ${name}_load4(row, d);
      }
    }`;
};

/** Each lane multiplies its rows with those that its neighbours show, one after the other: `INTOr_e`, of row r with neighbour e's. */
function products(tile: SubgroupTile, product: Product): string {
  const { own, group } = tile;
  const { into } = product;
  const mine = kept(tile, product);
  const { name, D } = met(tile, product);
  const vectors = vectorsOf(D);
  const each = (text: (r: number, e: number) => string, separator: string): string =>
    perKept(r => repeat(group, e => text(r, e), separator), separator);
  const vectorsOfScores =
    own === 'queries'
      ? perKept(r =>
          repeat(
            group / 4,
            m =>
              `let ${into}${(r * group) / 4 + m} = vec4f(${repeat(4, x => `${into}${r}_${4 * m + x}`, ', ')});`,
            '\n    ',
          ),
        )
      : repeat(group, e => `let ${into}${e} = vec4f(${perKept(r => `${into}${r}_${e}`, ', ')});`, '\n    ');
  return `${each((r, e) => `var ${into}${r}_${e} = 0.0;`, '\n    ')}
    for (var turn = 0u; turn < ${group}u; turn++) {
      ${perKept(r => `var sum${r} = vec4f();`)}
      ${repeat(
        vectors,
        n => `let shown${n} = subgroupShuffle(${name}_read[${n}], turn);
      ${perKept(r => `sum${r} = fma(${mine.name}_kept[${r * vectors + n}], shown${n}, sum${r});`)}`,
        '\n      ',
      )}
      ${perKept(r => `let product${r} = dot(sum${r}, vec4f(1.0));`)}
      ${each((r, e) => `${into}${r}_${e} = select(${into}${r}_${e}, product${r}, turn == ${e}u);`, '\n      ')}
    }
    ${vectorsOfScores}`;
}

/** Of each row that is met, the weights of this lane's rows with it, as an array. */
function weights({ own, group }: SubgroupTile, { weight }: WeightedSum): string {
  const of = (e: number): string =>
    own === 'keys'
      ? weight(e)
      : `vec4f(${perKept(r => `${weight((r * group) / 4 + Math.floor(e / 4))}[${e % 4}]`, ', ')})`;
  return `array<vec4f, ${group}>(${repeat(group, of, ', ')})`;
}

/** Rows that a turn of the loop adds up: with two of them, sums are written half as often. */
const rowsOfTurn = 2;

/** Each neighbour shows all the row that it has read, in its turn. Only garbage is looked at closely. */
function accumulate(tile: SubgroupTile, sum: WeightedSum, isRead: ReadonlySet<string>): string {
  const { into, operand, watch } = sum;
  const { name, D } = operand;
  const vectors = vectorsOf(D);
  const turns = (rows: number, add: (sum: string, w: string, x: string) => string): string =>
    `for (var turn = 0u; turn < ${tile.group}u; turn += ${rows}u) {
        ${repeat(rows, t => `let w${t} = weights[turn + ${t}u];`, '\n        ')}
        ${repeat(
          vectors,
          n =>
            repeat(
              rows,
              t => `let shown${t}_${n} = subgroupShuffle(${name}_read[${n}], turn + ${t}u);
        ${perKept(r => `${into}${r}_${n} = ${add(`${into}${r}_${n}`, `w${t}[${r}]`, `shown${t}_${n}`)};`, '\n        ')}`,
              '\n        ',
            ),
          '\n        ',
        )}
      }`;
  return `{
    ${isRead.has(name) ? '' : read(tile, operand)}
    let weights = ${weights(tile, sum)};
    let garbage = ${watch} && (${repeat(vectors, n => `has_non_finite(${name}_read[${n}])`, ' || ')});
    if (subgroupAny(garbage)) {
      ${turns(1, (sum, w, x) => `${sum} + weighted(${w}, ${x})`)}
    } else {
      ${turns(rowsOfTurn, (sum, w, x) => `fma(vec4f(${w}), ${x}, ${sum})`)}
    }
    }`;
}
