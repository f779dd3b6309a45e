/*
 * The products of attention between one row and selected rows of a matrix, in float64. Matrices are
 * row-major, with as many columns as the row has elements. Four rows are processed at a time, so that the
 * sums of one row do not wait for those of another.
 */

/** y_n = x · Y_rows[n] */
export function dots(x: Float64Array, Y: Float64Array, rows: Int32Array): Float64Array {
  const D = x.length;
  const y = new Float64Array(rows.length);
  let n = 0;
  for (; n + 4 <= rows.length; n += 4) {
    const a = rows[n] * D;
    const b = rows[n + 1] * D;
    const c = rows[n + 2] * D;
    const e = rows[n + 3] * D;
    let y0 = 0;
    let y1 = 0;
    let y2 = 0;
    let y3 = 0;
    for (let d = 0; d < D; d++) {
      y0 += x[d] * Y[a + d];
      y1 += x[d] * Y[b + d];
      y2 += x[d] * Y[c + d];
      y3 += x[d] * Y[e + d];
    }
    y[n] = y0;
    y[n + 1] = y1;
    y[n + 2] = y2;
    y[n + 3] = y3;
  }
  for (; n < rows.length; n++) {
    for (let d = 0; d < D; d++) y[n] += x[d] * Y[rows[n] * D + d];
  }
  return y;
}

/** y += Σ_n w_n Y_rows[n] */
export function addWeighted(y: Float64Array, w: Float64Array, rows: Int32Array, Y: Float64Array): void {
  const D = y.length;
  let n = 0;
  for (; n + 4 <= rows.length; n += 4) {
    const a = rows[n] * D;
    const b = rows[n + 1] * D;
    const c = rows[n + 2] * D;
    const e = rows[n + 3] * D;
    const w0 = w[n];
    const w1 = w[n + 1];
    const w2 = w[n + 2];
    const w3 = w[n + 3];
    for (let d = 0; d < D; d++) y[d] += w0 * Y[a + d] + w1 * Y[b + d] + w2 * Y[c + d] + w3 * Y[e + d];
  }
  for (; n < rows.length; n++) {
    for (let d = 0; d < D; d++) y[d] += w[n] * Y[rows[n] * D + d];
  }
}

/** Y_rows[n] += w_n x, for rows that differ */
export function addOuter(Y: Float64Array, w: Float64Array, rows: Int32Array, x: Float64Array): void {
  const D = x.length;
  let n = 0;
  for (; n + 4 <= rows.length; n += 4) {
    const a = rows[n] * D;
    const b = rows[n + 1] * D;
    const c = rows[n + 2] * D;
    const e = rows[n + 3] * D;
    const w0 = w[n];
    const w1 = w[n + 1];
    const w2 = w[n + 2];
    const w3 = w[n + 3];
    for (let d = 0; d < D; d++) {
      Y[a + d] += w0 * x[d];
      Y[b + d] += w1 * x[d];
      Y[c + d] += w2 * x[d];
      Y[e + d] += w3 * x[d];
    }
  }
  for (; n < rows.length; n++) {
    for (let d = 0; d < D; d++) Y[rows[n] * D + d] += w[n] * x[d];
  }
}
