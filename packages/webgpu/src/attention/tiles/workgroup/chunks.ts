import { tileLanes, type WorkgroupTile } from '../tile.ts';
import { vectorType } from './memory.ts';

/** Vec4s of an operand that the lanes copy from storage to the pool together. Texts are about the n-th of them. */
export interface Chunk {
  readonly vectors: number;
  /** Statements that declare what the others need, if anything. */
  readonly given?: string;
  /** Statements that declare it as `x`, a vec4f, of the chunk that is at `from`. */
  readonly read: (from: string) => string;
  /** Statements that look at x before it is multiplied, if any. */
  readonly look?: string;
  /** WGSL expression of where it is in the pool. */
  readonly slot: string;
}

/** A loop over chunks: its variable, the expression of where it ends, and by how much it goes on. */
export interface ChunkLoop {
  readonly at: string;
  readonly end: string;
  readonly step: number;
}

/** How chunks are read into registers before they go to the pool. */
export interface TilePrefetch {
  /** Statements that read the first chunks of a loop. */
  begin(tile: WorkgroupTile, chunks: readonly Chunk[]): string;
  /** The loop, after these statements in the same block. */
  overChunks(tile: WorkgroupTile, loop: ChunkLoop, chunks: readonly Chunk[], body: string): string;
  /** Why a tile cannot have its chunks so, or nothing. */
  reason(tile: WorkgroupTile): string | null;
}

/** A loop whose `body` has one chunk of each operand in the pool after the other. `begun`: what reads the first stands before. */
export function overChunks(
  tile: WorkgroupTile,
  loop: ChunkLoop,
  chunks: readonly Chunk[],
  body: string,
  begun: boolean,
): string {
  const { prefetch } = tile.variants ?? {};
  if (!prefetch) return chunkLoop(loop, chunks.map(chunk => copy(tile, chunk, loop.at)).join('\n    '), body);
  const prefetched = prefetch.overChunks(tile, loop, chunks, body);
  return begun ? prefetched : `{\n    ${prefetch.begin(tile, chunks)}\n    ${prefetched}\n    }`;
}

/** A loop that fills the pool by `arrive` before each `body`. */
export const chunkLoop = (
  { at, end, step }: ChunkLoop,
  arrive: string,
  body: string,
): string => `for (var ${at} = 0u; ${at} < ${end}; ${at} += ${step}u) {
    workgroupBarrier();
    ${arrive}
    workgroupBarrier();
    ${body}
    }`;

function copy(tile: WorkgroupTile, { vectors, given, read, look, slot }: Chunk, from: string): string {
  const statements = [given, read(from), look, `pool[${slot}] = ${vectorType(tile)}(x);`];
  return `for (var n = lane; n < ${vectors}u; n += ${tileLanes(tile)}u) {
      ${statements.filter(Boolean).join('\n      ')}
    }`;
}
