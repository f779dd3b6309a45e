import type { WgslPiece } from '@tilewise/philox/wgsl';

/** WGSL expression of byte `at` of an array of words; `word` gives the expression of an element. */
export const byteAt = (word: (index: string) => string, at: string): string =>
  `((${word(`(${at}) >> 2u`)} >> (((${at}) & 3u) * 8u)) & 0xffu)`;

/** WGSL expression that packs four bytes, a vec4u, into a word. */
export const packBytes = (bytes: string): string =>
  `${bytes}.x | (${bytes}.y << 8u) | (${bytes}.z << 16u) | (${bytes}.w << 24u)`;

/** The four bytes of a word, lowest first. */
export const splitBytes: WgslPiece = {
  code: `fn split_bytes(word: u32) -> vec4u {
  return (vec4u(word) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(0xffu);
}
`,
};
