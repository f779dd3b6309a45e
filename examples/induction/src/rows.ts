/** Row `rows[n]` of x (… , width) as row n of the result. */
export function gatherRows(x: Float32Array, rows: Int32Array, width: number): Float32Array {
  const y = new Float32Array(rows.length * width);
  rows.forEach((row, n) => {
    y.set(x.subarray(row * width, (row + 1) * width), n * width);
  });
  return y;
}

/** Adds row n of dy to row `rows[n]` of dx: the gradient of `gatherRows`. */
export function addRows(dx: Float32Array, rows: Int32Array, width: number, dy: Float32Array): void {
  rows.forEach((row, n) => {
    for (let d = 0; d < width; d++) dx[row * width + d] += dy[n * width + d];
  });
}
