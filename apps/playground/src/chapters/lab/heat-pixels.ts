/**
 * The colours of positive, negative and hidden numbers, as red, green and blue from 0 to 255. The opacity
 * shows how large a number is; with the exponent, small weights differ visibly from 0.
 */
const positive = [58, 136, 246] as const;
const negative = [236, 120, 40] as const;
const opacityExponent = 0.65;
const hidden = [128, 132, 148] as const;
const hiddenOpacity = 62;

/** The smallest and the largest of the numbers and 0; hidden numbers, which are NaN, do not count. */
export function rangeOf(values: Float32Array): readonly [low: number, high: number] {
  let [low, high] = [0, 0];
  // Comparisons with NaN are false.
  for (const x of values) {
    if (x < low) low = x;
    if (x > high) high = x;
  }
  return [low, high];
}

/**
 * The pixels of a map, four bytes each: NaN is a hidden pair, and a number as large as `most` has the full
 * colour. A map may have 512 × 512 pixels, so nothing is allocated for one of them.
 */
export function heatPixels(values: Float32Array, most: number): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(4 * values.length);
  for (let n = 0; n < values.length; n++) {
    const x = values[n] ?? Number.NaN;
    const isHidden = Number.isNaN(x);
    const color = isHidden ? hidden : x < 0 ? negative : positive;
    pixels[4 * n] = color[0];
    pixels[4 * n + 1] = color[1];
    pixels[4 * n + 2] = color[2];
    pixels[4 * n + 3] = isHidden ? hiddenOpacity : Math.round(255 * (Math.abs(x) / most) ** opacityExponent);
  }
  return pixels;
}
