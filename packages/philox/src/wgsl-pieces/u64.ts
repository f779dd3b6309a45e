import type { WgslPiece } from './piece.ts';

/** `fn u32_mulhi(a: u32, b: u32) -> u32`: the high 32 bits of a 64-bit product, by 16-bit halves. */
export const mulhiWgsl: WgslPiece = {
  code: `fn u32_mulhi(a: u32, b: u32) -> u32 {
  let a_low = a & 0xffffu;
  let a_high = a >> 16u;
  let b_low = b & 0xffffu;
  let b_high = b >> 16u;
  let cross = a_high * b_low + ((a_low * b_low) >> 16u);
  let carry = ((cross & 0xffffu) + a_low * b_high) >> 16u;
  return a_high * b_high + (cross >> 16u) + carry;
}
`,
};

/**
 * 64-bit unsigned integers as `vec2u(lo, hi)`, wrapping at 2^64:
 * `u64_add(vec2u, vec2u)`, `u64_add_u32(vec2u, u32)`, `u32_mul_wide(u32, u32)`, `u64_mul_u32(vec2u, u32)` and
 * `u64_quarter(vec2u)`, the quotient by 4.
 */
export const u64Wgsl: WgslPiece = {
  code: `fn u64_add(a: vec2u, b: vec2u) -> vec2u {
  let lo = a.x + b.x;
  return vec2u(lo, a.y + b.y + select(0u, 1u, lo < a.x));
}

fn u64_add_u32(a: vec2u, b: u32) -> vec2u {
  let lo = a.x + b;
  return vec2u(lo, a.y + select(0u, 1u, lo < b));
}

fn u32_mul_wide(a: u32, b: u32) -> vec2u {
  return vec2u(a * b, u32_mulhi(a, b));
}

fn u64_mul_u32(a: vec2u, b: u32) -> vec2u {
  return vec2u(a.x * b, u32_mulhi(a.x, b) + a.y * b);
}

fn u64_quarter(a: vec2u) -> vec2u {
  return vec2u((a.x >> 2u) | (a.y << 30u), a.y >> 2u);
}
`,
  requires: [mulhiWgsl],
};
