import { subgroupLane } from '../../../codegen/subgroup-lane.ts';
import { keptRows, laneGrid, repeat, type SubgroupTile } from '../tile.ts';
import {
  type OwnResults,
  type Product,
  rescaleOfLanes,
  resultsOfLanes,
  rowsRead,
  type TileOperand,
  type TileResults,
  type TileWork,
  type WeightedSum,
  weightedPart,
} from '../tile-backend.ts';
import { statisticInMemory } from '../workgroup/row-reduction.ts';

/**
 * A lane keeps its rows and their accumulators in registers, and gets the rows of the other side from its neighbours. Four keys are what
 * a vec4 of scores is of, so that one that keeps keys has whole vectors too.
 *
 * Such text is large, and what compilers make of it larger than caches of instructions: rows are read and products summed in loops.
 */
export function subgroupWork(tile: SubgroupTile): TileWork {
  return {
    parts: () => [subgroupLane, weightedPart],
    place: tile.own === 'queries' ? 'let tx = 0u;\n  let ty = lane;' : 'let tx = lane;\n  let ty = 0u;',
    keep: (all, summed) => keep(tile, all, summed),
    products: all =>
      all.map(product => `${read(tile, met(tile, product))}\n    ${products(tile, product)}`).join('\n    '),
    statistic: statistic => statisticInMemory(laneGrid(tile), statistic),
    accumulate: (all, ...sums) =>
      sums.map(sum => `${rescale(tile, sum)}\n    ${accumulate(tile, sum, rowsRead(all))}`).join('\n    '),
    ...results(tile),
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

const perKept = (tile: SubgroupTile, text: (r: number) => string, separator = '\n      '): string =>
  repeat(keptRows(tile), text, separator);

/** Reads the rows that a lane keeps, and declares room for those that it reads for its neighbours. */
function keep(tile: SubgroupTile, all: readonly Product[], summed: readonly TileOperand[]): string {
  const rows = keptRows(tile);
  const own = all.map(product => kept(tile, product));
  const others = [...all.map(product => met(tile, product)), ...summed];
  const names = new Map(others.map(operand => [operand.name, operand]));
  return `${own
    .map(operand => {
      const { name, channels, D } = operand;
      const vectors = vectorsOf(D);
      return `var ${name}_kept = array<vec4f, ${rows * vectors}>();
  for (var r = 0u; r < ${rows}u; r++) {
    let row = ${rowAt(operand, `lane * ${rows}u + r`)};
    for (var d = 0u; d < ${channels}; d += 4u) {
      ${name}_kept[r * ${vectors}u + d / 4u] = ${name}_load4(row, d);
    }
  }`;
    })
    .join('\n  ')}
  ${[...names.values()].map(({ name, D }) => `var ${name}_read = array<vec4f, ${vectorsOf(D)}>();`).join('\n  ')}`;
}

/** How many of a row's vectors are read before they are put where text finds them: so many that none is beyond the row. */
const vectorsOfRead = (vectors: number): number => (vectors % 4 === 0 ? 4 : vectors % 2 === 0 ? 2 : 1);

/**
 * Reads the row that this lane shows its neighbours. Each vector goes to a place that is known when this is written: where it is not,
 * arrays are written lane by lane, which takes as long as to read.
 */
const read = ({ group }: SubgroupTile, operand: TileOperand): string => {
  const { name, channels, D } = operand;
  const vectors = vectorsOf(D);
  const count = vectorsOfRead(vectors);
  const place = (first: number): string => `case ${4 * first}u${first === 0 ? ', default' : ''}: {
          ${repeat(count, n => `${name}_read[${first + n}] = x${n};`, '\n          ')}
        }`;
  return `{
      let row = ${rowAt(operand, `(subgroup_lane & ${group - 1}u)`)};
      for (var d = 0u; d < ${channels}; d += ${4 * count}u) {
        ${repeat(count, n => `let x${n} = ${name}_load4(row, d + ${4 * n}u);`, '\n        ')}
        switch d {
        ${repeat(vectors / count, n => place(n * count), '\n        ')}
        }
      }
    }`;
};

/** Each lane multiplies its rows with those that its neighbours show, one after the other: `INTOr_e`, of row r with neighbour e's. */
function products(tile: SubgroupTile, product: Product): string {
  const { own, group } = tile;
  const { into } = product;
  const rows = keptRows(tile);
  const mine = kept(tile, product);
  const { name, D } = met(tile, product);
  // As many sums as there are registers for.
  const { width, parts } = rows === 4 ? { width: 4, parts: [''] } : { width: 2, parts: ['.xy', '.zw'] };
  const vectors = vectorsOf(D);
  const each = (text: (r: number, e: number) => string, separator: string): string =>
    perKept(tile, r => repeat(group, e => text(r, e), separator), separator);
  const block = (r: number, e: number): string => `${into}${r}_${e}`;
  const vectorsOfScores =
    own === 'queries'
      ? perKept(tile, r =>
          repeat(
            group / 4,
            m => `let ${into}${(r * group) / 4 + m} = vec4f(${repeat(4, x => block(r, 4 * m + x), ', ')});`,
            '\n    ',
          ),
        )
      : repeat(
          group,
          e =>
            repeat(
              rows / 4,
              m => `let ${into}${(e * rows) / 4 + m} = vec4f(${repeat(4, x => block(4 * m + x, e), ', ')});`,
              '\n    ',
            ),
          '\n    ',
        );
  return `${each((r, e) => `var ${into}${r}_${e} = 0.0;`, '\n    ')}
    for (var turn = 0u; turn < ${group}u; turn++) {
      ${perKept(tile, r => `var sum${r} = vec${width}f();`)}
      ${repeat(
        vectors,
        n => `let shown${n} = subgroupShuffle(${name}_read[${n}], turn);
      ${parts.map(part => perKept(tile, r => `sum${r} = fma(${mine.name}_kept[${r * vectors + n}]${part}, shown${n}${part}, sum${r});`)).join('\n      ')}`,
        '\n      ',
      )}
      ${perKept(tile, r => `let product${r} = dot(sum${r}, vec${width}f(1.0));`)}
      ${each((r, e) => `${into}${r}_${e} = select(${into}${r}_${e}, product${r}, turn == ${e}u);`, '\n      ')}
    }
    ${vectorsOfScores}`;
}

/** Of each row that is met, the weights of this lane's rows with it, four by four, as arrays. */
function weights(tile: SubgroupTile, { weight }: WeightedSum): string {
  const { own, group } = tile;
  const rows = keptRows(tile);
  const of = (e: number, m: number): string =>
    own === 'keys'
      ? weight((e * rows) / 4 + m)
      : `vec4f(${repeat(4, r => `${weight(((4 * m + r) * group) / 4 + Math.floor(e / 4))}[${e % 4}]`, ', ')})`;
  return repeat(
    rows / 4,
    m => `let weights${m} = array<vec4f, ${group}>(${repeat(group, e => of(e, m), ', ')});`,
    '\n    ',
  );
}

/** Rows that a turn of the loop adds up: with two of them, sums are written half as often. */
const rowsOfTurn = 2;

/** Each neighbour shows all the row that it has read, in its turn. Only garbage is looked at closely, in each row that there is. */
function accumulate(tile: SubgroupTile, sum: WeightedSum, isRead: ReadonlySet<string>): string {
  const { group } = tile;
  const { into, operand, watch } = sum;
  const { name, D, first, end } = operand;
  const vectors = vectorsOf(D);
  const turns = (rows: number, count: string, add: (sum: string, w: string, x: string) => string): string =>
    `for (var turn = 0u; turn < ${count}; turn += ${rows}u) {
        ${repeat(rows, t => repeat(keptRows(tile) / 4, m => `let w${t}_${m} = weights${m}[turn + ${t}u];`, '\n        '), '\n        ')}
        ${repeat(
          vectors,
          n =>
            repeat(
              rows,
              t => `let shown${t}_${n} = subgroupShuffle(${name}_read[${n}], turn + ${t}u);
        ${perKept(tile, r => `${into}${r}_${n} = ${add(`${into}${r}_${n}`, `w${t}_${Math.floor(r / 4)}[${r % 4}]`, `shown${t}_${n}`)};`, '\n        ')}`,
              '\n        ',
            ),
          '\n        ',
        )}
      }`;
  return `{
    ${isRead.has(name) ? '' : read(tile, operand)}
    ${weights(tile, sum)}
    let garbage = ${watch} && (${repeat(vectors, n => `has_non_finite(${name}_read[${n}])`, ' || ')});
    if (subgroupAny(garbage)) {
      ${turns(1, `min(${end} - ${first}, ${group}u)`, (sum, w, x) => `${sum} + weighted(${w}, ${x})`)}
    } else {
      ${turns(rowsOfTurn, `${group}u`, (sum, w, x) => `fma(vec4f(${w}), ${x}, ${sum})`)}
    }
    }`;
}

/** What a lane has of a result: its rows, whole. */
const ownResults = (tile: SubgroupTile): OwnResults => ({
  resultRows: keptRows(tile),
  resultPlace: 'lane',
  vectors: vectorsOf,
  vector: vectorOf,
});

/** Only where a row's factor is not 1, which is seldom once a row has seen its largest scores. */
function rescale(tile: SubgroupTile, sum: WeightedSum): string {
  const { rescale: factor } = sum;
  if (!factor) return '';
  return `if (subgroupAny(${perKept(tile, r => `${factor(r)} != 1.0`, ' || ')})) {
      ${rescaleOfLanes(ownResults(tile), sum)}
    }`;
}

/** A loop stores the vectors of a row, through an array. */
const results = (tile: SubgroupTile): TileResults => ({
  ...resultsOfLanes(ownResults(tile)),
  isSlowToRescale: true,
  eachVector: (
    row,
    { channels, D },
    text,
  ) => `let vectors = array<vec4f, ${vectorsOf(D)}>(${repeat(vectorsOf(D), n => `${row}_${n}`, ', ')});
    for (var d = 0u; d < ${channels}; d += 4u) {
      ${text('d', 'vectors[d / 4u]')}
    }`,
});
