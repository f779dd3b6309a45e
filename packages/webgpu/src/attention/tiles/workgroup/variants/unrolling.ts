import { repeat } from '../../../../codegen/text.ts';
import type { TileOperand } from '../../interface/tile-gemms.ts';
import { unrolledVectors } from '../../scores/score-vectors.ts';
import { ofProduct, setNonFiniteIf } from '../gemm/chunks.ts';
import { divisorUpTo, stagedValue } from '../memory.ts';
import type { Chunk, FetchedVectors, TileUnrolling, WorkgroupTile } from '../workgroup-tile.ts';

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
    // Tint omits bounds checks in a loop that counts by one up to a constant.
    return `for (var turn = 0u; turn < ${rows / together}u; turn++) {
        ${repeat(together, n => `{\n        ${addRow(`(turn * ${together}u + ${n}u)`)}\n        }`)}
      }`;
  },
  copy(tile, chunks, from) {
    const all = readsOf(tile, chunks);
    const batches = Math.ceil(all.length / vectorsInFlight);
    const size = Math.ceil(all.length / batches);
    return repeat(batches, b => {
      const { declare, read, store } = fetch(tile, all.slice(b * size, (b + 1) * size));
      return `{\n    ${declare}\n    ${read(from)}\n    ${store}\n    }`;
    });
  },
  fetch: (tile, chunks) => fetch(tile, readsOf(tile, chunks)),
};

/** The largest number of weighted rows that one iteration of the loop over a chunk adds. */
const rowsOfTurn = 8;

/** A vec4 of a chunk that a lane reads in a turn. */
interface Read {
  readonly chunk: Chunk;
  readonly turn: number;
}

/** All reads of a lane, chunk by chunk. In the last turn, there may be no vec4 for some lanes. */
function readsOf({ tx, ty }: WorkgroupTile, chunks: readonly Chunk[]): readonly Read[] {
  return chunks.flatMap(chunk =>
    Array.from({ length: Math.ceil(chunk.vectors / (tx * ty)) }, (_, turn) => ({ chunk, turn })),
  );
}

function fetch(tile: WorkgroupTile, reads: readonly Read[]): FetchedVectors {
  const lanes = tile.tx * tile.ty;
  const each = (text: (read: Read, name: string) => string): string =>
    reads.map((read, n) => text(read, `read${n}`)).join('\n');
  const number = ({ turn }: Read): string => `let n = lane + ${turn * lanes}u;`;
  const [{ chunk: first }] = reads;
  const isWhole = ({ chunk, turn }: Read): boolean => (turn + 1) * lanes <= chunk.vectors;
  const readAll = (p: number, from: string): string =>
    each((read, name) => {
      const { given = '', declare, operands, channels } = read.chunk;
      return `{
      ${number(read)}
      ${given}
      ${declare(from)}
      ${name} = ${readWithin(operands[p], channels, isWhole(read) ? '' : ` && n < ${read.chunk.vectors}u`)};
    }`;
    });
  return {
    declare: each((_, name) => `var ${name} = vec4f();`),
    read: from => ofProduct(first.operands, operand => readAll(first.operands.indexOf(operand), from)),
    // One branch for all vectors, because SwiftShader's compiler cannot take many branches in a row.
    store: `${first.search ? setNonFiniteIf(first.search, `(${reads.map((_, n) => first.search?.finds(`read${n}`)).join(' | ')})`) : ''}
    ${each((read, name) => {
      const { given = '', slot, vectors } = read.chunk;
      const text = `${given}
      let x = ${name};
      staged${slot} = ${stagedValue(tile)};`;
      return `{
      ${number(read)}
      ${isWhole(read) ? text : `if (n < ${vectors}u) {\n      ${text}\n      }`}
    }`;
    })}`,
  };
}

/** WGSL expression of channels d to d + 3 of row s, which are 0 beyond the end. */
const readWithin = ({ name, row, end }: TileOperand, channels: string, also: string): string =>
  `select(vec4f(), ${name}_load4(${row(`min(s, max(${end}, 1u) - 1u)`)}, min(d, (${channels} - 1u) & ~3u)), s < ${end} && d < ${channels}${also})`;
