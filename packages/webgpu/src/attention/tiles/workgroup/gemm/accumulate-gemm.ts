import { repeat } from '../../../../codegen/text.ts';
import type { AccumulateGemm } from '../../interface/tile-gemms.ts';
import { tileSize } from '../../tile.ts';
import { stagedAt, stagedRows, vectorsPerLane, weightsOfLane } from '../memory.ts';
import type { Chunk, WeightedChunk, WorkgroupTile } from '../workgroup-tile.ts';
import { overChunks } from './chunks.ts';

/** The n-th of `count` consecutive items of a lane, as an index among the items of all lanes. */
const neighbour = (lane: 'tx' | 'ty', count: number, n: number): string =>
  count === 1 ? lane : `${lane} * ${count}u + ${n}u`;

const asIs = (value: string): string => value;

/**
 * Stores this lane's weights (vec4fs over keys for each query) so that the weights of one key, or of one
 * query, are adjacent.
 */
export function storeWeights(tile: WorkgroupTile, { weight, over }: AccumulateGemm): string {
  const { rows, cols } = tile;
  const count = weightsOfLane(tile, over);
  const stored = tile.arithmetic?.weight.stored ?? asIs;
  if (over === 'queries')
    return repeat(
      rows * cols,
      b =>
        `weights[ty * ${rows}u + ${Math.floor(b / cols)}u][${neighbour('tx', count, b % cols)}] = ${stored(weight(b))};`,
    );
  const ofKey = (key: number, first: number): string =>
    repeat(4, r => `${weight((first + r) * cols + Math.floor(key / 4))}[${key % 4}]`, ', ');
  return repeat(4 * cols, key =>
    repeat(
      count,
      n =>
        `weights[tx * ${4 * cols}u + ${key}u][${neighbour('ty', count, n)}] = ${stored(`vec4f(${ofKey(key, 4 * n)})`)};`,
    ),
  );
}

const rowsSummed = (tile: WorkgroupTile, over: AccumulateGemm['over']): number =>
  tileSize(tile)[over === 'keys' ? 'cols' : 'rows'];

/** A chunk of whole rows of the operand: as many as workgroup memory has room for. */
function rowsChunk(tile: WorkgroupTile, { operand, over, nonFiniteGuard }: AccumulateGemm): Chunk {
  const { first, channels, D } = operand;
  const width = vectorsPerLane(D, tile) * tile.tx;
  return {
    vectors: stagedRows(tile, D, rowsSummed(tile, over)) * width,
    declare: from => `let s = ${first} + ${from} + n / ${width}u;
      let d = 4u * (n % ${width}u);`,
    operands: [operand],
    channels,
    search: tile.arithmetic?.search.sums ?? { guard: nonFiniteGuard, finds: x => `has_non_finite(${x})` },
    slot: `[n / ${tile.tx}u][n % ${tile.tx}u]`,
  };
}

/** Reads the first of these chunks, if they are prefetched. */
export const begin = (tile: WorkgroupTile, sum: AccumulateGemm): string =>
  tile.prefetch?.begin(tile, [rowsChunk(tile, sum)]) ?? '';

/**
 * Adds the stored weights · operand to the accumulators. `begun`: the statements of `begin` precede this text
 * in the same block.
 */
export function accumulate(tile: WorkgroupTile, sum: AccumulateGemm, begun: boolean): string {
  const { into, operand, over } = sum;
  const { rows, arithmetic } = tile;
  const perLane = vectorsPerLane(operand.D, tile);
  const length = rowsSummed(tile, over);
  const chunk = stagedRows(tile, operand.D, length);
  const count = rows / 4;
  const perSum: WeightedChunk['perSum'] = text =>
    repeat(rows, r =>
      repeat(perLane, n => {
        const w = `w${Math.floor(r / 4)}[${r % 4}]`;
        return text({ r, n, w, x: `x${n}`, sum: `${into}${r}_${n}` });
      }),
    );
  const read = (weights: (at: string) => string, vector: (at: string) => string, k = 'k'): string =>
    `${repeat(count, n => `let w${n} = ${weights(`weights[k0 + ${k}][${neighbour('ty', count, n)}]`)};`)}
        ${repeat(perLane, n => `let x${n} = ${vector(`[${k} * ${perLane}u + ${n}u][tx]`)};`)}`;
  const addRow = (multiply: (w: string, x: string) => string, k?: string): string =>
    `${read(arithmetic?.weight.read ?? asIs, at => stagedAt(tile, at), k)}
        ${perSum(({ sum, w, x }) => `${sum} += ${multiply(w, x)};`)}`;
  // The loop has no constant ends, so that compilers do not unroll it: lavapipe compiles in a time that
  // grows with the square of the number of reads.
  const sums = (
    multiply: (w: string, x: string) => string,
  ): string => `for (var row = k0; row < k0 + ${chunk}u; row++) {
        let k = row - k0;
        ${addRow(multiply)}
      }`;
  const plainSums = (w: string, x: string): string => `${w} * ${x}`;
  return overChunks(
    tile,
    { at: 'k0', end: `${length}u`, step: chunk },
    [rowsChunk(tile, sum)],
    `if (atomicLoad(&non_finite) == 0u) {
        ${arithmetic?.sums({ rows: chunk, read: read(asIs, at => `staged${at}`), perSum }) ?? tile.unrolling?.sums(chunk, k => addRow(plainSums, k)) ?? sums(plainSums)}
      } else {
        ${sums((w, x) => `weighted(${w}, ${x})`)}
      }`,
    begun,
  );
}
