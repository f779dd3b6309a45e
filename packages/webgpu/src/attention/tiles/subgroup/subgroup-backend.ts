import { subgroupLane } from '../../../codegen/subgroups.ts';
import { repeat } from '../../../codegen/text.ts';
import { type TileBackend, weightedPart } from '../interface/tile-backend.ts';
import { type AccumulateGemm, rowsRead, type ScoreGemm, type TileOperand } from '../interface/tile-gemms.ts';
import {
  type LaneResults,
  rescaleOfLanes,
  resultsOfLanes,
  type TileResults,
} from '../interface/tile-results.ts';
import { lazyRescaling } from '../scores/lazy-rescaling.ts';
import { type LaneGrid, unrolledVectors } from '../scores/score-vectors.ts';
import { sidesOf, streamedOperands } from '../tile-operands.ts';
import { reduceInMemory } from '../workgroup/row-reduction.ts';
import type { SubgroupTileShape } from './shape.ts';

/** A subgroup tile in the form that its kernels are written from. */
export interface SubgroupTile extends Required<Omit<SubgroupTileShape, 'kind' | 'lanes'>> {
  readonly grid: LaneGrid;
}

/**
 * A lane holds its stationary rows and their accumulators in registers, and the other lanes of its group
 * broadcast rows of the other side to it. A vec4 of scores has four keys, so a lane whose stationary rows are
 * keys also has whole vectors.
 *
 * The text is large, and its compiled code would exceed instruction caches if it were unrolled, so rows are
 * read and products are added in loops.
 */
export function subgroupBackend(tile: SubgroupTile): TileBackend {
  return {
    parts: () => [subgroupLane, weightedPart],
    lane: tile.stationary === 'queries' ? 'let tx = 0u;\n  let ty = lane;' : 'let tx = lane;\n  let ty = 0u;',
    scoreVectors: unrolledVectors(tile.grid),
    loadStationary: (gemms, summed) => loadStationary(tile, gemms, summed),
    scores: gemms =>
      gemms.map(gemm => `${read(tile, sidesOf(tile, gemm).streamed)}\n    ${scores(tile, gemm)}`).join('\n'),
    reduceRows: reduction => reduceInMemory(tile.grid, reduction),
    accumulate: (gemms, sums) =>
      sums.map(sum => `${rescale(tile, sum)}\n    ${accumulate(tile, sum, rowsRead(gemms))}`).join('\n'),
    ...results(tile),
  };
}

export const vectorsOf = (D: number): number => Math.ceil(D / 4);

/**
 * The index at which a row starts. For rows beyond the end, this is the last row, or the first if there are
 * none: such rows have weight 0 and no result.
 */
export const rowAt = ({ row, first, end }: TileOperand, offset: string): string =>
  row(`min(${first} + ${offset}, max(${end}, 1u) - 1u)`);

/** Reads a lane's stationary rows, and declares arrays for the rows that the lane reads for its group. */
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
 * How many vectors of a row are read before they are stored: a divisor of the number of vectors, so that no
 * read goes beyond the row.
 */
const vectorsOfRead = (vectors: number): number => (vectors % 4 === 0 ? 4 : vectors % 2 === 0 ? 2 : 1);

/**
 * Reads the row that this lane broadcasts to the other lanes of its group. The text uses a constant index for
 * each vector, because computed indices make compilers write arrays lane by lane, which takes as long as
 * reading.
 */
const read = ({ group }: SubgroupTile, operand: TileOperand): string => {
  const { name, channels, D } = operand;
  const vectors = vectorsOf(D);
  const count = vectorsOfRead(vectors);
  const storeFrom = (first: number): string => `case ${4 * first}u${first === 0 ? ', default' : ''}: {
          ${repeat(count, n => `${name}_streamed[${first + n}] = x${n};`)}
        }`;
  return `{
      let row = ${rowAt(operand, `(subgroup_lane & ${group - 1}u)`)};
      for (var d = 0u; d < ${channels}; d += ${4 * count}u) {
        ${repeat(count, n => `let x${n} = ${name}_load4(row, d + ${4 * n}u);`)}
        switch d {
        ${repeat(vectors / count, n => storeFrom(n * count))}
        }
      }
    }`;
};

/**
 * Each lane multiplies its rows with the rows that the lanes of its group broadcast, one after the other:
 * `INTOr_e` is the product of row r and the row of lane e.
 */
function scores(tile: SubgroupTile, gemm: ScoreGemm): string {
  const { stationary, group, rows } = tile;
  const { into } = gemm;
  const { held: mine, streamed } = sidesOf(tile, gemm);
  const { name, D } = streamed;
  // As many sums as fit into registers.
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

/** For each streamed row, the weights that this lane's rows have with it, four by four, as arrays. */
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

/** The number of rows that one loop iteration adds: with two rows, sums are written half as often. */
const rowsOfTurn = 2;

/**
 * Each lane of the group in turn broadcasts the whole row that it has read. The slow loop handles rows that
 * contain a NaN or infinity.
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
  resultBlock: 'lane',
  vectors: vectorsOf,
  vector: n => n,
});

/** Rescales only if a row's factor is not 1, which is rare once the row's largest scores have been seen. */
function rescale(tile: SubgroupTile, sum: AccumulateGemm): string {
  const { rescale: factor } = sum;
  if (!factor) return '';
  return `if (subgroupAny(${repeat(tile.rows, r => `${factor(r)} != 1.0`, ' || ')})) {
      ${rescaleOfLanes(laneResults(tile), sum)}
    }`;
}

const results = (tile: SubgroupTile): TileResults => ({
  ...resultsOfLanes(laneResults(tile)),
  lazyRescaling,
  keepsLoops: true,
});
