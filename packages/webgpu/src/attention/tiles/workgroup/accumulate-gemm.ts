import { laneGrid, repeat, tileCols, tileRows, type WorkgroupTile } from '../tile.ts';
import type { WeightedSum } from '../tile-backend.ts';
import type { WeightedChunk } from './arithmetic.ts';
import { type Chunk, overChunks } from './chunks.ts';
import { pooled, rowsInPool, vectorsPerLane, weightsOfLane, weightsPitch } from './memory.ts';

/** The n-th of `count` neighbours of a lane, as a place among those of all lanes. */
const neighbour = (lane: 'tx' | 'ty', count: number, n: number): string =>
  count === 1 ? lane : `${lane} * ${count}u + ${n}u`;

const asIs = (value: string): string => value;

/** Stores this lane's weights, vec4fs over keys for each query, so that those of one key, or of one query, are together. */
export function storeWeights(tile: WorkgroupTile, { weight, over }: WeightedSum): string {
  const { rows, cols } = laneGrid(tile);
  const count = weightsOfLane(tile, over);
  const p = weightsPitch(tile, over);
  const stored = tile.variants?.arithmetic?.weight.stored ?? asIs;
  if (over === 'queries')
    return repeat(
      rows * cols,
      b =>
        `weights[(ty * ${rows}u + ${Math.floor(b / cols)}u) * ${p}u + ${neighbour('tx', count, b % cols)}] = ${stored(weight(b))};`,
      '\n    ',
    );
  const ofKey = (key: number, first: number): string =>
    repeat(4, r => `${weight((first + r) * cols + Math.floor(key / 4))}[${key % 4}]`, ', ');
  return repeat(
    4 * cols,
    key =>
      repeat(
        count,
        n =>
          `weights[(tx * ${4 * cols}u + ${key}u) * ${p}u + ${neighbour('ty', count, n)}] = ${stored(`vec4f(${ofKey(key, 4 * n)})`)};`,
        '\n    ',
      ),
    '\n    ',
  );
}

const rowsSummed = (tile: WorkgroupTile, over: WeightedSum['over']): number =>
  over === 'keys' ? tileCols(tile) : tileRows(tile);

/** As many whole rows of the operand as there is room for in the pool. */
function rowsChunk(tile: WorkgroupTile, { operand, over, watch }: WeightedSum): Chunk {
  const { name, row, first, end, channels, D } = operand;
  const width = vectorsPerLane(D, tile) * tile.tx;
  return {
    vectors: rowsInPool(tile, D, rowsSummed(tile, over)) * width,
    read: from => `let s = ${first} + ${from} + n / ${width}u;
      let d = 4u * (n % ${width}u);
      var x = vec4f();
      if (s < ${end} && d < ${channels}) {
        x = ${name}_load4(${row('s')}, d);
      }`,
    look:
      tile.variants?.arithmetic?.look.results ??
      `if (${watch} && has_non_finite(x)) {
        atomicStore(&garbage, 1u);
      }`,
    slot: 'n',
  };
}

/** Reads the first of these chunks, where they are prefetched. */
export const begin = (tile: WorkgroupTile, sum: WeightedSum): string =>
  tile.variants?.prefetch?.begin(tile, [rowsChunk(tile, sum)]) ?? '';

/** Adds the stored weights · operand to the accumulators; `begun`: `begin` stands before, in the same block. */
export function accumulate(tile: WorkgroupTile, sum: WeightedSum, begun: boolean): string {
  const { into, operand, over } = sum;
  const { rows } = laneGrid(tile);
  const perLane = vectorsPerLane(operand.D, tile);
  const width = perLane * tile.tx;
  const length = rowsSummed(tile, over);
  const chunk = rowsInPool(tile, operand.D, length);
  const p = weightsPitch(tile, over);
  const count = rows / 4;
  const weightsOf = (n: number): string => (count === 1 ? 'w' : `w${n}`);
  const { arithmetic } = tile.variants ?? {};
  const perSum: WeightedChunk['perSum'] = text =>
    repeat(
      rows,
      r =>
        repeat(
          perLane,
          n => {
            const w = `${weightsOf(Math.floor(r / 4))}[${r % 4}]`;
            return text({ r, n, w, x: `x${n}`, sum: `${into}${r}_${n}` });
          },
          '\n        ',
        ),
      '\n        ',
    );
  const read = (weights: (at: string) => string, vector: (at: string) => string): string =>
    `${repeat(count, n => `let ${weightsOf(n)} = ${weights(`weights[(k0 + k) * ${p}u + ${neighbour('ty', count, n)}]`)};`, '\n        ')}
        ${repeat(perLane, n => `let x${n} = ${vector(`k * ${width}u + ${n * tile.tx}u + tx`)};`, '\n        ')}`;
  const sums = (multiply: (w: string, x: string) => string): string => `for (var k = 0u; k < ${chunk}u; k++) {
        ${read(arithmetic?.weight.read ?? asIs, at => pooled(tile, at))}
        ${perSum(({ sum, w, x }) => `${sum} += ${multiply(w, x)};`)}
      }`;
  return overChunks(
    tile,
    { at: 'k0', end: `${length}u`, step: chunk },
    [rowsChunk(tile, sum)],
    `if (atomicLoad(&garbage) == 0u) {
        ${arithmetic?.results({ chunk, read: read(asIs, at => `pool[${at}]`), perSum }) ?? sums((w, x) => `${w} * ${x}`)}
      } else {
        ${sums((w, x) => `weighted(${w}, ${x})`)}
      }`,
    begun,
  );
}
