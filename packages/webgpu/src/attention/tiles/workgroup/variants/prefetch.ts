import { chunkLoop, readVector, setNonFiniteIf } from '../gemm/chunks.ts';
import { stagedValue, stagedVectors, vectorType } from '../memory.ts';
import type { Chunk, ChunkLoop, FetchedVectors, TilePrefetch, WorkgroupTile } from '../workgroup-tile.ts';

/**
 * Lanes read the next chunks from storage into registers before they multiply or process scores, so that
 * these chunks have arrived by the time workgroup memory is free. The results have the same bits.
 */
export const prefetch: TilePrefetch = {
  begin,
  overChunks,
  reason(tile) {
    const fetched = Math.ceil(stagedVectors(tile) / lanesOf(tile));
    return fetched > maxFetchedVectors
      ? `prefetches ${4 * fetched} numbers per lane (max ${4 * maxFetchedVectors}); use more lanes or a smaller headDimChunk`
      : null;
  },
};

/** The largest number of vec4s that a lane prefetches. */
const maxFetchedVectors = 16;

const lanesOf = ({ tx, ty }: WorkgroupTile): number => tx * ty;

const vectorsOf = (tile: WorkgroupTile, { vectors }: Chunk): number => Math.ceil(vectors / lanesOf(tile));

/** Makes text for each chunk, with the name of the array that the chunk is read into. */
const ofAll = (chunks: readonly Chunk[], text: (chunk: Chunk, fetched: string) => string): string =>
  chunks.map((chunk, c) => text(chunk, `fetched${c}`)).join('\n');

/** Statements for each of a lane's vec4s of each chunk. */
function each(
  tile: WorkgroupTile,
  chunks: readonly Chunk[],
  statements: (chunk: Chunk, fetched: string) => readonly (string | undefined)[],
): string {
  const lanes = lanesOf(tile);
  // Loops, although they will be unrolled: SwiftShader's compiler does not terminate on so many consecutive
  // branches.
  return ofAll(chunks, (chunk, fetched) => {
    const text = [chunk.given, ...statements(chunk, `${fetched}[turn]`)].filter(Boolean).join('\n');
    return `for (var turn = 0u; turn < ${vectorsOf(tile, chunk)}u; turn++) {
      let n = lane + turn * ${lanes}u;
      ${chunk.vectors % lanes === 0 ? text : `if (n < ${chunk.vectors}u) {\n      ${text}\n      }`}
    }`;
  });
}

function begin(tile: WorkgroupTile, chunks: readonly Chunk[]): string {
  const { declare, read } = fetchOf(tile, chunks);
  return `${declare}
    ${read('0u')}`;
}

/** The vec4s that a lane prefetches: in arrays that loops fill, or each with its own name. */
const fetchOf = (tile: WorkgroupTile, chunks: readonly Chunk[]): FetchedVectors =>
  tile.unrolling?.fetch(tile, chunks) ?? {
    declare: ofAll(
      chunks,
      (chunk, fetched) => `var ${fetched} = array<${vectorType(tile)}, ${vectorsOf(tile, chunk)}>();`,
    ),
    read: from =>
      each(tile, chunks, (chunk, fetched) => [readVector(chunk, from), `${fetched} = ${stagedValue(tile)};`]),
    store: each(tile, chunks, ({ search, slot }, fetched) => [
      search && setNonFiniteIf(search, search.finds(`vec4f(${fetched})`)),
      `staged${slot} = ${fetched};`,
    ]),
  };

function overChunks(tile: WorkgroupTile, loop: ChunkLoop, chunks: readonly Chunk[], body: string): string {
  const next = `${loop.at} + ${loop.step}u`;
  const { read, store } = fetchOf(tile, chunks);
  // Lanes search vectors when they store them: all lanes see the outcome when this chunk is multiplied, and
  // none before.
  return chunkLoop(
    loop,
    store,
    `if (${next} < ${loop.end}) {
    ${read(`(${next})`)}
    }
    ${body}`,
  );
}
