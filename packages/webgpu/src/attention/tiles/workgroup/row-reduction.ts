import { repeat } from '../../../codegen/text.ts';
import type { RowReduction } from '../interface/tile-backend.ts';
import type { LaneGrid } from '../scores/score-vectors.ts';
import type { TileRowReduction } from './workgroup-tile.ts';

/**
 * Reduces rows in workgroup memory: `row_partial` holds the numbers of each lane's rows as vec4s. Works on
 * every device.
 */
export const workgroupRowReduction: TileRowReduction = {
  part: grid => ({ code: `var<workgroup> row_partial: array<vec4f, ${partials(grid)}>;` }),
  bytes: grid => [16 * partials(grid)],
  lane: ({ tx }) => `let tx = lane % ${tx}u;\n  let ty = lane / ${tx}u;`,
  reduceRows: reduceInMemory,
  reason: () => null,
};

const partials = ({ tx, ty, rows }: LaneGrid): number => (tx * ty * rows) / 4;

/**
 * Each lane of a row combines the numbers of all lanes of the row, in the same order. The loop has no
 * constant ends, so that compilers do not unroll it: lavapipe compiles in a time that grows with the square
 * of the number of reads.
 */
export function reduceInMemory(
  { tx, ty, rows }: LaneGrid,
  { name, own, join, identity, afterBarrier }: RowReduction,
): string {
  if (tx === 1) return repeat(rows, r => `let ${name}${r} = ${own(r)};`);
  const joined = (m: number): string => (m === 0 ? name : `${name}_${m}`);
  const at = (m: number, x: string): string => `row_partial[${m * tx * ty}u + ${x}]`;
  const each = (text: (m: number) => string): string => repeat(rows / 4, text);
  return `${afterBarrier ? '' : 'workgroupBarrier();'}
    ${each(m => `${at(m, `ty * ${tx}u + tx`)} = vec4f(${repeat(4, r => own(4 * m + r), ', ')});`)}
    workgroupBarrier();
    ${each(m => `var ${joined(m)} = vec4f(${identity});`)}
    for (var x = ty * ${tx}u; x < (ty + 1u) * ${tx}u; x++) {
      ${each(m => `${joined(m)} = ${join(joined(m), at(m, 'x'))};`)}
    }
    ${each(m => repeat(4, r => `let ${name}${4 * m + r} = ${joined(m)}[${r}];`))}`;
}
