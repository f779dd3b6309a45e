import { repeat } from '../../../../codegen/text.ts';
import { unrolledVectors } from '../../scores/score-vectors.ts';
import type { TileOperand } from '../../tile-backend.ts';
import { ofProduct } from '../gemm/chunks.ts';
import { divisorUpTo, stagedValue } from '../memory.ts';
import type { Chunk, TileUnrolling, WorkgroupTile } from '../workgroup-tile.ts';

/** The number of vec4s that a lane reads before it stores the first. */
export const vectorsInFlight: number = 8;

/**
 * Lanes read several vec4s before they store the first, so that the reads are in flight together instead of
 * one after the other. A read in a branch must complete before the branch ends, so these reads are not in
 * branches: beyond the last row or channel, a lane reads the last one and uses 0 instead.
 */
export const unrolling: TileUnrolling = {
  scoreVectors: unrolledVectors,
  sums(rows, addRow) {
    const together = divisorUpTo(rowsOfTurn, rows);
    return `for (var k = 0u; k < ${rows}u; k += ${together}u) {
        ${repeat(together, n => `{\n        ${addRow(`(k + ${n}u)`)}\n        }`)}
      }`;
  },
  copy(tile, chunks, from) {
    const lanes = tile.tx * tile.ty;
    if (chunks.some(({ vectors }) => vectors % lanes !== 0)) return null;
    const reads = chunks.flatMap(chunk =>
      Array.from({ length: chunk.vectors / lanes }, (_, turn) => ({ chunk, turn })),
    );
    const batches = Math.ceil(reads.length / vectorsInFlight);
    const size = Math.ceil(reads.length / batches);
    return repeat(batches, b => batch(tile, reads.slice(b * size, (b + 1) * size), from));
  },
};

/** The largest number of weighted rows that one turn of the loop over a chunk adds. */
const rowsOfTurn = 8;

/** A vec4 of a chunk that a lane reads in a turn. */
interface Read {
  readonly chunk: Chunk;
  readonly turn: number;
}

function batch(tile: WorkgroupTile, reads: readonly Read[], from: string): string {
  const each = (text: (read: Read, name: string) => string): string =>
    reads.map((read, n) => text(read, `read${n}`)).join('\n');
  const number = ({ turn }: Read): string => `let n = lane + ${turn * tile.tx * tile.ty}u;`;
  const [{ chunk: first }] = reads;
  const readAll = (p: number): string =>
    each((read, name) => {
      const { given = '', place, operands, channels } = read.chunk;
      return `{
      ${number(read)}
      ${given}
      ${place(from)}
      ${name} = ${readWithin(operands[p], channels)};
    }`;
    });
  return `{
    ${each((_, name) => `var ${name} = vec4f();`)}
    ${ofProduct(first.operands, operand => readAll(first.operands.indexOf(operand)))}
    ${each(
      (read, name) => `{
      ${number(read)}
      ${read.chunk.given ?? ''}
      let x = ${name};
      ${read.chunk.look ?? ''}
      staged${read.chunk.slot} = ${stagedValue(tile)};
    }`,
    )}
    }`;
}

/** WGSL expression of channels d to d + 3 of row s, which are 0 beyond the end. */
const readWithin = ({ name, row, end }: TileOperand, channels: string): string =>
  `select(vec4f(), ${name}_load4(${row(`min(s, max(${end}, 1u) - 1u)`)}, min(d, (${channels} - 1u) & ~3u)), s < ${end} && d < ${channels})`;
