import type { WgslPiece } from './piece.ts';

/**
 * `dropout_keep_at` and `dropout_keep4_at` of the schemes that give each element its own word: `row.base` + j
 * is a position in a stream of words, and `dropout_block(p, place)` is the block that contains it.
 */
export const wordDecisionsWgsl: WgslPiece = {
  code: `fn dropout_keep_at(p: DropoutParams, row: DropoutRow, j: u32) -> bool {
  let place = u64_add_u32(row.base, j);
  let word = philox_word(dropout_block(p, place), place.x & 3u);
  return word >= p.threshold && p.keep_none == 0u;
}

fn dropout_keep4_at(p: DropoutParams, row: DropoutRow, j: u32) -> vec4<bool> {
  let place = u64_add_u32(row.base, j);
  let lane = place.x & 3u;
  var words = dropout_block(p, place);
  if (lane != 0u) {
    words = philox_stitch(words, dropout_block(p, u64_add_u32(place, 4u)), lane);
  }
  return (words >= vec4u(p.threshold)) & vec4<bool>(p.keep_none == 0u);
}
`,
};
