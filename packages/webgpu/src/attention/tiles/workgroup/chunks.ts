import { stagedValue } from './memory.ts';
import type { Chunk, ChunkLoop, WorkgroupTile } from './workgroup-tile.ts';

/**
 * A loop whose `body` finds one chunk of each operand after the other in `staged`. `begun`: the statements of
 * `begin` stand before the loop.
 */
export function overChunks(
  tile: WorkgroupTile,
  loop: ChunkLoop,
  chunks: readonly Chunk[],
  body: string,
  begun: boolean,
): string {
  const { prefetch } = tile;
  if (!prefetch) return chunkLoop(loop, chunks.map(chunk => copy(tile, chunk, loop.at)).join('\n    '), body);
  const prefetched = prefetch.overChunks(tile, loop, chunks, body);
  return begun ? prefetched : `{\n    ${prefetch.begin(tile, chunks)}\n    ${prefetched}\n    }`;
}

/** A loop that fills `staged` by `arrive` before each `body`. */
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
  const statements = [given, read(from), look, `staged[${slot}] = ${stagedValue(tile)};`];
  return `for (var n = lane; n < ${vectors}u; n += ${tile.tx * tile.ty}u) {
      ${statements.filter(Boolean).join('\n      ')}
    }`;
}
