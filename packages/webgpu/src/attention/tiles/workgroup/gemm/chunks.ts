import type { TileOperand } from '../../interface/tile-gemms.ts';
import { stagedValue } from '../memory.ts';
import type { Chunk, ChunkLoop, VectorSearch, WorkgroupTile } from '../workgroup-tile.ts';

/**
 * A loop that copies one chunk of each operand after the other to `staged`, and runs `body` on each. `begun`:
 * the statements of `begin` precede the loop.
 */
export function overChunks(
  tile: WorkgroupTile,
  loop: ChunkLoop,
  chunks: readonly Chunk[],
  body: string,
  begun: boolean,
): string {
  const { prefetch, unrolling } = tile;
  if (!prefetch)
    return chunkLoop(
      loop,
      unrolling?.copy(tile, chunks, loop.at) ?? chunks.map(chunk => copy(tile, chunk, loop.at)).join('\n'),
      body,
    );
  const prefetched = prefetch.overChunks(tile, loop, chunks, body);
  return begun ? prefetched : `{\n    ${prefetch.begin(tile, chunks)}\n    ${prefetched}\n    }`;
}

/** A loop that fills `staged` with the statements `arrive` before each `body`. */
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

/** Statement that sets `non_finite` if the search has found a vector, a WGSL condition. */
export const setNonFiniteIf = ({ guard }: VectorSearch, found: string): string => `if (${guard} && ${found}) {
        atomicStore(&non_finite, 1u);
      }`;

function copy(tile: WorkgroupTile, chunk: Chunk, from: string): string {
  const { vectors, given = '', search, slot } = chunk;
  return `for (var n = lane; n < ${vectors}u; n += ${tile.tx * tile.ty}u) {
      ${given}
      ${readVector(chunk, from)}${search ? `\n${setNonFiniteIf(search, search.finds('x'))}` : ''}
      staged${slot} = ${stagedValue(tile)};
    }`;
}

/** Statements that declare the n-th vector of a chunk as `x`, a vec4f: 0 if there is none. */
export const readVector = ({ declare, operands, channels }: Chunk, from: string): string => `${declare(from)}
      var x = vec4f();
      ${ofProduct(
        operands,
        ({ name, row, end }) => `if (s < ${end} && d < ${channels}) {
        x = ${name}_load4(${row('s')}, d);
      }`,
      )}`;

/** Makes the text for the operand of a product; of two operands, for the one whose number is `product`. */
export function ofProduct(operands: readonly TileOperand[], text: (operand: TileOperand) => string): string {
  const [one, other] = operands.map(text);
  return other === undefined
    ? one
    : `if (product == 0u) {\n      ${one}\n      } else {\n      ${other}\n      }`;
}
