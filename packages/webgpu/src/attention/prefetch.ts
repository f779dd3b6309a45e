import { tileLanes, type WorkgroupTile } from './tile.ts';
import { type Chunk, type ChunkLoop, chunkLoop, type TilePrefetch } from './workgroup-chunks.ts';
import { poolVectors, vectorType } from './workgroup-layout.ts';

/**
 * Lanes read the next chunks from storage into registers before they multiply, so that the reads have arrived when the pool is free.
 * The results have the same bits.
 */
export const prefetch: TilePrefetch = {
  overChunks,
  reason(tile) {
    const fetched = Math.ceil(poolVectors(tile) / tileLanes(tile));
    return fetched > maxFetchedVectors
      ? `prefetches ${4 * fetched} numbers per lane, at most ${4 * maxFetchedVectors} are: it takes more lanes or less depth`
      : null;
  },
};

/** vec4s that a lane prefetches at most. */
const maxFetchedVectors = 16;

function overChunks(tile: WorkgroupTile, loop: ChunkLoop, chunks: readonly Chunk[], body: string): string {
  const { at, end, step } = loop;
  const lanes = tileLanes(tile);
  const count = ({ vectors }: Chunk): number => Math.ceil(vectors / lanes);
  const ofAll = (text: (chunk: Chunk, fetched: string) => string): string =>
    chunks.map((chunk, c) => text(chunk, `fetched${c}`)).join('\n    ');
  // Loops, though they are to be unrolled: on so many branches in a row SwiftShader's compiler does not end.
  const each = (statements: (chunk: Chunk, fetched: string) => readonly (string | undefined)[]): string =>
    ofAll((chunk, fetched) => {
      const text = [chunk.given, ...statements(chunk, `${fetched}[turn]`)].filter(Boolean).join('\n      ');
      return `for (var turn = 0u; turn < ${count(chunk)}u; turn++) {
      let n = lane + turn * ${lanes}u;
      ${chunk.vectors % lanes === 0 ? text : `if (n < ${chunk.vectors}u) {\n      ${text}\n      }`}
    }`;
    });
  const read = (from: string): string =>
    each((chunk, fetched) => [chunk.read(from), `${fetched} = ${vectorType(tile)}(x);`]);
  // What looks at x does so now: all lanes have seen what it found when the chunk is multiplied, and none before.
  const store = each(({ look, slot }, fetched) => [
    look && `let x = vec4f(${fetched});`,
    look,
    `pool[${slot}] = ${fetched};`,
  ]);
  return `{
    ${ofAll((chunk, fetched) => `var ${fetched} = array<${vectorType(tile)}, ${count(chunk)}>();`)}
    ${read('0u')}
    ${chunkLoop(
      loop,
      store,
      `if (${at} + ${step}u < ${end}) {
    ${read(`(${at} + ${step}u)`)}
    }
    ${body}`,
    )}
    }`;
}
