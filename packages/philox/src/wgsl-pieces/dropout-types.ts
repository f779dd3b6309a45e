import type { WgslPiece } from './piece.ts';

/**
 * The WGSL that every dropout scheme shares.
 *
 * - `struct DropoutParams`: ten words in host-shareable layout, see `dropoutUniforms`. For packed sequences
 *   with `torch-efficient`, set `row_stride` in a copy to the number of keys of the sequence.
 * - `struct DropoutRow`: the values that a scheme computes once per row (b, h, i), for all its columns.
 * - `dropout_row(p, bh, i) -> DropoutRow`, with bh = b·H + h (H counts query heads) and i within the
 *   sequence.
 * - `dropout_keep_at(p, row, j) -> bool` for one column, and `dropout_keep4_at(p, row, j) -> vec4<bool>` for
 *   the columns j … j + 3, which computes one block (two if the columns straddle blocks; in
 *   flash-attention-2 two, or three at odd j) instead of four.
 * - `dropout_keep(p, bh, i, j) -> bool`: all in one, for a single element.
 */
export const dropoutTypesWgsl: WgslPiece = {
  code: `struct DropoutParams {
  seed: vec2u,
  offset: vec2u,
  head_stride: vec2u,
  row_stride: u32,
  threshold: u32,
  keep_none: u32,
  scale: f32,
}

struct DropoutRow {
  base: vec2u,
  i: u32,
}

fn dropout_keep(p: DropoutParams, bh: u32, i: u32, j: u32) -> bool {
  return dropout_keep_at(p, dropout_row(p, bh, i), j);
}
`,
};
