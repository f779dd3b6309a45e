import { uniformFromWord } from './uniform.ts';

const fround = Math.fround;

/** Radians per word, cuRAND's constant: 2^-32 times the f32 nearest to 2π. */
const TURN = 6.2831854820251465 * 2 ** -32;

/**
 * Two standard normals from two random words by Box–Muller, in cuRAND's order: the sine comes first.
 *
 * With u = `uniformFromWord(x)` and v = y·c + c/2, c = 2^-32·2π, all in f32: `sqrt(-2 ln u) · (sin v, cos
 * v)`. The words are exact everywhere; logarithm, sine and cosine are the platform's. Therefore the last bits
 * of a normal are not portable between JavaScript engines, and even less to CUDA, which uses its fast
 * intrinsics.
 */
export function normalPairFromWords(x: number, y: number): [number, number] {
  const radius = fround(Math.sqrt(fround(-2 * fround(Math.log(uniformFromWord(x))))));
  const angle = fround(fround(fround(y) * TURN) + TURN / 2);
  return [fround(radius * fround(Math.sin(angle))), fround(radius * fround(Math.cos(angle)))];
}
