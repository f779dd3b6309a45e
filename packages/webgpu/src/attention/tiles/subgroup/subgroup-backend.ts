import { subgroupLane } from '../../../codegen/subgroup-lane.ts';
import { repeat } from '../../../codegen/text.ts';
import type { LaneGrid } from '../tile.ts';
import {
  type AccumulateGemm,
  type LaneResults,
  rescaleOfLanes,
  resultsOfLanes,
  rowsRead,
  type ScoreGemm,
  type TileBackend,
  type TileOperand,
  type TileResults,
  weightedPart,
} from '../tile-backend.ts';
import { sidesOf, streamedOperands } from '../tile-operands.ts';
import { reduceInMemory } from '../workgroup/row-reduction.ts';
import type { SubgroupTileShape } from './shape.ts';

/** A subgroup tile as its kernels are written. */
export interface SubgroupTile extends Required<Omit<SubgroupTileShape, 'kind' | 'lanes'>> {
  readonly grid: LaneGrid;
}

/**
 * A lane holds its stationary rows and their accumulators in registers, and its neighbours broadcast rows of
 * the other side to it. A vec4 of scores has four keys, so that a lane whose stationary rows are keys has
 * whole vectors too.
 *
 * The text is large, and compiled code is larger than instruction caches: so rows are read, and products
 * added up, in loops.
 */
export function subgroupBackend(tile: SubgroupTile): TileBackend {
  return {
    parts: () => [subgroupLane, weightedPart],
    place:
      tile.stationary === 'queries' ? 'let tx = 0u;\n  let ty = lane;' : 'let tx = lane;\n  let ty = 0u;',
    loadStationary: (gemms, summed) => loadStationary(tile, gemms, summed),
    scores: gemms =>
      gemms.map(gemm => `${read(tile, sidesOf(tile, gemm).streamed)}\n    ${scores(tile, gemm)}`).join('\n'),
    reduceRows: reduction => reduceInMemory(tile.grid, reduction),
    accumulate: (gemms, ...sums) =>
      sums.map(sum => `${rescale(tile, sum)}\n    ${accumulate(tile, sum, rowsRead(gemms))}`).join('\n'),
    ...results(tile),
  };
}

export const vectorsOf = (D: number): number => Math.ceil(D / 4);

/**
 * Where a row starts. Rows beyond the end read the last row, or the first where there is none: they have
 * weight 0 and no result.
 */
export const rowAt = ({ row, first, end }: TileOperand, place: string): string =>
  row(`min(${first} + ${place}, max(${end}, 1u) - 1u)`);

/** Reads a lane's stationary rows, and declares arrays for the rows that it reads for its neighbours. */
function loadStationary(
  tile: SubgroupTile,
  gemms: readonly ScoreGemm[],
  summed: readonly TileOperand[],
): string {
  const { rows } = tile;
  const own = gemms.map(gemm => sidesOf(tile, gemm).held);
  const others = streamedOperands(tile, gemms, summed);
  return `${own
    .map(operand => {
      const { name, channels, D } = operand;
      const vectors = vectorsOf(D);
      return `var ${name}_stationary = array<vec4f, ${rows * vectors}>();
  for (var r = 0u; r < ${rows}u; r++) {
    let row = ${rowAt(operand, `lane * ${rows}u + r`)};
    for (var d = 0u; d < ${channels}; d += 4u) {
      ${name}_stationary[r * ${vectors}u + d / 4u] = ${name}_load4(row, d);
    }
  }`;
    })
    .join('\n')}
  ${others.map(({ name, D }) => `var ${name}_streamed = array<vec4f, ${vectorsOf(D)}>();`).join('\n')}`;
}

/**
 * How many vectors of a row are read before they are stored: a divisor of the number of vectors, so that none
 * lies beyond the row.
 */
const vectorsOfRead = (vectors: number): number => (vectors % 4 === 0 ? 4 : vectors % 2 === 0 ? 2 : 1);

/**
 * Reads the row that this lane broadcasts to its neighbours. The text names the place of each vector, because
 * a place that is computed makes compilers write arrays lane by lane, which takes as long as reading.
 */
const read = ({ group }: SubgroupTile, operand: TileOperand): string => {
  const { name, channels, D } = operand;
  const vectors = vectorsOf(D);
  const count = vectorsOfRead(vectors);
  const place = (first: number): string => `case ${4 * first}u${first === 0 ? ', default' : ''}: {
          ${repeat(count, n => `${name}_streamed[${first + n}] = x${n};`)}
        }`;
  return `{
      let row = ${rowAt(operand, `(subgroup_lane & ${group - 1}u)`)};
      for (var d = 0u; d < ${channels}; d += ${4 * count}u) {
        ${repeat(count, n => `let x${n} = ${name}_load4(row, d + ${4 * n}u);`)}
        switch d {
        ${repeat(vectors / count, n => place(n * count))}
        }
      }
    }`;
};

/**
 * Each lane multiplies its rows with those that its neighbours broadcast, one after the other: `INTOr_e` is
 * of row r and neighbour e's row.
 */
function scores(tile: SubgroupTile, gemm: ScoreGemm): string {
  const { stationary, group, rows } = tile;
  const { into } = gemm;
  const { held: mine, streamed } = sidesOf(tile, gemm);
  const { name, D } = streamed;
  // As many sums as there are registers for.
  const { width, parts } = rows === 4 ? { width: 4, parts: [''] } : { width: 2, parts: ['.xy', '.zw'] };
  const vectors = vectorsOf(D);
  const each = (text: (r: number, e: number) => string): string =>
    repeat(tile.rows, r => repeat(group, e => text(r, e)));
  const block = (r: number, e: number): string => `${into}${r}_${e}`;
  const vectorsOfScores =
    stationary === 'queries'
      ? repeat(tile.rows, r =>
          repeat(
            group / 4,
            m => `let ${into}${(r * group) / 4 + m} = vec4f(${repeat(4, x => block(r, 4 * m + x), ', ')});`,
          ),
        )
      : repeat(group, e =>
          repeat(
            rows / 4,
            m => `let ${into}${(e * rows) / 4 + m} = vec4f(${repeat(4, x => block(4 * m + x, e), ', ')});`,
          ),
        );
  return `${each((r, e) => `var ${into}${r}_${e} = 0.0;`)}
    for (var turn = 0u; turn < ${group}u; turn++) {
      ${repeat(tile.rows, r => `var sum${r} = vec${width}f();`)}
      ${repeat(
        vectors,
        n => `let broadcast${n} = subgroupShuffle(${name}_streamed[${n}], turn);
      ${parts.map(part => repeat(tile.rows, r => `sum${r} = fma(${mine.name}_stationary[${r * vectors + n}]${part}, broadcast${n}${part}, sum${r});`)).join('\n')}`,
      )}
      ${repeat(tile.rows, r => `let product${r} = dot(sum${r}, vec${width}f(1.0));`)}
      ${each((r, e) => `${into}${r}_${e} = select(${into}${r}_${e}, product${r}, turn == ${e}u);`)}
    }
    ${vectorsOfScores}`;
}

/** For each streamed row, the weights of this lane's rows with that row, four by four, as arrays. */
function weights({ stationary, group, rows }: SubgroupTile, { weight }: AccumulateGemm): string {
  const of = (e: number, m: number): string =>
    stationary === 'keys'
      ? weight((e * rows) / 4 + m)
      : `vec4f(${repeat(4, r => `${weight(((4 * m + r) * group) / 4 + Math.floor(e / 4))}[${e % 4}]`, ', ')})`;
  return repeat(
    rows / 4,
    m => `let weights${m} = array<vec4f, ${group}>(${repeat(group, e => of(e, m), ', ')});`,
  );
}

/** Rows that a turn of the loop adds up: with two rows, sums are written half as often. */
const rowsOfTurn = 2;

/**
 * Each neighbour broadcasts the whole row that it has read, in its turn. The slow loop is for rows that hold
 * a NaN or infinity.
 */
function accumulate(tile: SubgroupTile, sum: AccumulateGemm, isRead: ReadonlySet<string>): string {
  const { group } = tile;
  const { into, operand, nonFiniteGuard } = sum;
  const { name, D, first, end } = operand;
  const vectors = vectorsOf(D);
  const turns = (rows: number, count: string, add: (sum: string, w: string, x: string) => string): string =>
    `for (var turn = 0u; turn < ${count}; turn += ${rows}u) {
        ${repeat(rows, t => repeat(tile.rows / 4, m => `let w${t}_${m} = weights${m}[turn + ${t}u];`))}
        ${repeat(vectors, n =>
          repeat(
            rows,
            t => `let broadcast${t}_${n} = subgroupShuffle(${name}_streamed[${n}], turn + ${t}u);
        ${repeat(tile.rows, r => `${into}${r}_${n} = ${add(`${into}${r}_${n}`, `w${t}_${Math.floor(r / 4)}[${r % 4}]`, `broadcast${t}_${n}`)};`)}`,
          ),
        )}
      }`;
  return `{
    ${isRead.has(name) ? '' : read(tile, operand)}
    ${weights(tile, sum)}
    let non_finite = ${nonFiniteGuard} && (${repeat(vectors, n => `has_non_finite(${name}_streamed[${n}])`, ' || ')});
    if (subgroupAny(non_finite)) {
      ${turns(1, `min(${end} - ${first}, ${group}u)`, (sum, w, x) => `${sum} + weighted(${w}, ${x})`)}
    } else {
      ${turns(rowsOfTurn, `${group}u`, (sum, w, x) => `fma(vec4f(${w}), ${x}, ${sum})`)}
    }
    }`;
}

/** A lane has whole rows of a result. */
const laneResults = (tile: SubgroupTile): LaneResults => ({
  resultRows: tile.rows,
  resultPlace: 'lane',
  vectors: vectorsOf,
  vector: n => n,
});

/** Rescales only where a row's factor is not 1, which is seldom once a row has seen its largest scores. */
function rescale(tile: SubgroupTile, sum: AccumulateGemm): string {
  const { rescale: factor } = sum;
  if (!factor) return '';
  return `if (subgroupAny(${repeat(tile.rows, r => `${factor(r)} != 1.0`, ' || ')})) {
      ${rescaleOfLanes(laneResults(tile), sum)}
    }`;
}

const results = (tile: SubgroupTile): TileResults => ({
  ...resultsOfLanes(laneResults(tile)),
  isSlowToRescale: true,
  keepsLoops: true,
});
