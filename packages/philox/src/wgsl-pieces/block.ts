import { checkRounds } from '../block/rounds.ts';
import type { WgslPiece } from './piece.ts';
import { mulhiWgsl } from './u64.ts';

/**
 * `fn philox4x32_R(counter: vec4u, key: vec2u) -> vec4u`, the block function with R rounds; R is part of its
 * name (`philox4x32_10` by default). It needs no optional feature, only 32-bit integers.
 *
 * @throws InvalidArgumentError if `rounds` is not a whole number from 1 to 1024.
 */
export function philox4x32Wgsl(rounds: number = 10): WgslPiece {
  return {
    code: `fn philox4x32_${checkRounds(rounds)}(counter: vec4u, key: vec2u) -> vec4u {
  var c = counter;
  var k = key;
  for (var round = 0u; round < ${rounds}u; round++) {
    let high0 = u32_mulhi(c.x, 0xd2511f53u);
    let high1 = u32_mulhi(c.z, 0xcd9e8d57u);
    c = vec4u(high1 ^ c.y ^ k.x, c.z * 0xcd9e8d57u, high0 ^ c.w ^ k.y, c.x * 0xd2511f53u);
    k += vec2u(0x9e3779b9u, 0xbb67ae85u);
  }
  return c;
}
`,
    requires: [mulhiWgsl],
  };
}

/**
 * `fn philox2x32_R(counter: vec2u, key: u32) -> vec2u`, the small block function.
 *
 * @throws InvalidArgumentError if `rounds` is not a whole number from 1 to 1024.
 */
export function philox2x32Wgsl(rounds: number = 10): WgslPiece {
  return {
    code: `fn philox2x32_${checkRounds(rounds)}(counter: vec2u, key: u32) -> vec2u {
  var c = counter;
  var k = key;
  for (var round = 0u; round < ${rounds}u; round++) {
    c = vec2u(u32_mulhi(c.x, 0xd256d193u) ^ c.y ^ k, c.x * 0xd256d193u);
    k += 0x9e3779b9u;
  }
  return c;
}
`,
    requires: [mulhiWgsl],
  };
}

/**
 * Words from blocks: `philox_word(block: vec4u, lane: u32) -> u32` is one of a block's four words, and
 * `philox_stitch(first: vec4u, second: vec4u, lane: u32) -> vec4u` the four words starting at `lane` in two
 * consecutive blocks.
 */
export const laneWgsl: WgslPiece = {
  code: `fn philox_word(block: vec4u, lane: u32) -> u32 {
  let even = select(block.x, block.z, lane >= 2u);
  let odd = select(block.y, block.w, lane >= 2u);
  return select(even, odd, (lane & 1u) == 1u);
}

fn philox_stitch(first: vec4u, second: vec4u, lane: u32) -> vec4u {
  let by_two = select(first, vec4u(first.zw, second.xy), lane >= 2u);
  let after = select(second.x, second.z, lane >= 2u);
  return select(by_two, vec4u(by_two.yzw, after), (lane & 1u) == 1u);
}
`,
};
