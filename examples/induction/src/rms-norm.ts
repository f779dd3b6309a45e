const EPSILON = 1e-5;

/** Each row of `width` numbers divided by its root mean square (Zhang and Sennrich 2019, without a gain). */
export function rmsNorm(x: Float32Array, width: number): Float32Array {
  const y = new Float32Array(x.length);
  for (let at = 0; at < x.length; at += width) {
    const inverse = inverseRms(x, at, width);
    for (let d = at; d < at + width; d++) y[d] = x[d] * inverse;
  }
  return y;
}

/** dx = (dy − y·⟨y, dy⟩/width) / rms */
export function rmsNormBackward(
  x: Float32Array,
  y: Float32Array,
  dy: Float32Array,
  width: number,
): Float32Array {
  const dx = new Float32Array(x.length);
  for (let at = 0; at < x.length; at += width) {
    const inverse = inverseRms(x, at, width);
    let along = 0;
    for (let d = at; d < at + width; d++) along += y[d] * dy[d];
    along /= width;
    for (let d = at; d < at + width; d++) dx[d] = inverse * (dy[d] - y[d] * along);
  }
  return dx;
}

function inverseRms(x: Float32Array, at: number, width: number): number {
  let squares = 0;
  for (let d = at; d < at + width; d++) squares += x[d] * x[d];
  return 1 / Math.sqrt(squares / width + EPSILON);
}
