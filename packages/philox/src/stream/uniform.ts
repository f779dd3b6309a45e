const fround = Math.fround;

/**
 * The f32 that cuRAND's `curand_uniform` computes from a random word: `f32(x) * 2^-32 + 2^-33`, each step
 * rounded to f32.
 *
 * The range is [2^-33, 1]; the 128 largest words give 1, and no word gives 0. The result never decreases as
 * `word`, an unsigned 32-bit integer, increases, so a comparison with a probability can become an integer
 * threshold.
 */
export function uniformFromWord(word: number): number {
  return fround(fround(word) * 2 ** -32 + 2 ** -33);
}

/** The least word in [0, 2^32] for which a monotone predicate holds; 2^32 means "none". */
function firstWord(holds: (word: number) => boolean): number {
  let low = 0;
  let high = 2 ** 32;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The least random word whose uniform is greater than `p` rounded to f32, or 2^32 if there is none.
 *
 * So `uniform > p`, PyTorch's memory-efficient keep rule, is `word >= firstWordAbove(p)`, and `uniform <= p`,
 * its Bernoulli rule, is `word < firstWordAbove(p)`. Neither needs a conversion to floating point, whose
 * rounding a GPU may choose.
 */
export function firstWordAbove(p: number): number {
  const bound = fround(p);
  return firstWord(word => uniformFromWord(word) > bound);
}

/**
 * The least random word whose uniform is at least `q` rounded to f32, or 2^32 if there is none.
 *
 * So `uniform < q`, the keep rule of PyTorch's `native_dropout`, is `word < firstWordAtLeast(q)`.
 */
export function firstWordAtLeast(q: number): number {
  const bound = fround(q);
  return firstWord(word => uniformFromWord(word) >= bound);
}
