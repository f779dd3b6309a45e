import { repeat } from '../../../codegen/text.ts';
import type { LaneGrid } from '../tile.ts';
import type { RowReduction } from '../tile-backend.ts';
import type { TileRowReduction } from './workgroup-tile.ts';

/** In `row_partial`, which has one number of each row and lane: this works on every device. */
export const workgroupRowReduction: TileRowReduction = {
  part: grid => ({ code: `var<workgroup> row_partial: array<f32, ${partials(grid)}>;` }),
  bytes: grid => [4 * partials(grid)],
  place: ({ tx }) => `let tx = lane % ${tx}u;\n  let ty = lane / ${tx}u;`,
  reduceRows: reduceInMemory,
  reason: () => null,
};

const partials = ({ tx, ty, rows }: LaneGrid): number => ty * rows * tx;

/** Each lane of a row joins the numbers of all its lanes, in the same order. */
export function reduceInMemory(
  { tx, rows }: LaneGrid,
  { name, own, join, afterBarrier }: RowReduction,
): string {
  if (tx === 1) return repeat(rows, r => `let ${name}${r} = ${own(r)};`);
  const at = (r: number, x: string): string => `row_partial[(ty * ${rows}u + ${r}u) * ${tx}u + ${x}]`;
  return `${afterBarrier ? '' : 'workgroupBarrier();'}
    ${repeat(rows, r => `${at(r, 'tx')} = ${own(r)};`)}
    workgroupBarrier();
    ${repeat(
      rows,
      r => `var ${name}${r} = ${at(r, '0u')};
    for (var x = 1u; x < ${tx}u; x++) {
      ${name}${r} = ${join(`${name}${r}`, at(r, 'x'))};
    }`,
    )}`;
}
