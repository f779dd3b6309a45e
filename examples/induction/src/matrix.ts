/** A matrix view: element (i, j) is `data[i·rowStep + j·columnStep]`. */
export interface Matrix {
  readonly data: Float32Array;
  readonly rowStep: number;
  readonly columnStep: number;
}

/** Row-major data with `columns` columns as a matrix. */
export function matrix(data: Float32Array, columns: number): Matrix {
  return { data, rowStep: columns, columnStep: 1 };
}

/** The same numbers with rows and columns exchanged. */
export function transposed({ data, rowStep, columnStep }: Matrix): Matrix {
  return { data, rowStep: columnStep, columnStep: rowStep };
}

/** c += a·b for a (m × depth), b (depth × n) and row-major c (m × n). */
export function addProduct(m: number, n: number, depth: number, a: Matrix, b: Matrix, c: Float32Array): void {
  const evenRows = m - (m % 2);
  const blocked = n - (n % 4);
  for (let i = 0; i < evenRows; i += 2) {
    for (let j = 0; j < blocked; j += 4) addBlock(i, j, n, depth, a, b, c);
    for (let j = blocked; j < n; j++) {
      addElement(i, j, n, depth, a, b, c);
      addElement(i + 1, j, n, depth, a, b, c);
    }
  }
  for (let i = evenRows; i < m; i++) {
    for (let j = 0; j < n; j++) addElement(i, j, n, depth, a, b, c);
  }
}

/** Two rows and four columns of c at once: eight sums that share six loads. */
function addBlock(
  i: number,
  j: number,
  n: number,
  depth: number,
  a: Matrix,
  b: Matrix,
  c: Float32Array,
): void {
  const { data: x, rowStep: ai, columnStep: ak } = a;
  const { data: y, rowStep: bk, columnStep: bj } = b;
  let c00 = 0;
  let c01 = 0;
  let c02 = 0;
  let c03 = 0;
  let c10 = 0;
  let c11 = 0;
  let c12 = 0;
  let c13 = 0;
  let at = i * ai;
  let bt = j * bj;
  for (let k = 0; k < depth; k++) {
    const x0 = x[at];
    const x1 = x[at + ai];
    const y0 = y[bt];
    const y1 = y[bt + bj];
    const y2 = y[bt + 2 * bj];
    const y3 = y[bt + 3 * bj];
    c00 += x0 * y0;
    c01 += x0 * y1;
    c02 += x0 * y2;
    c03 += x0 * y3;
    c10 += x1 * y0;
    c11 += x1 * y1;
    c12 += x1 * y2;
    c13 += x1 * y3;
    at += ak;
    bt += bk;
  }
  const top = i * n + j;
  c[top] += c00;
  c[top + 1] += c01;
  c[top + 2] += c02;
  c[top + 3] += c03;
  c[top + n] += c10;
  c[top + n + 1] += c11;
  c[top + n + 2] += c12;
  c[top + n + 3] += c13;
}

function addElement(
  i: number,
  j: number,
  n: number,
  depth: number,
  a: Matrix,
  b: Matrix,
  c: Float32Array,
): void {
  let sum = 0;
  for (let k = 0; k < depth; k++) {
    sum += a.data[i * a.rowStep + k * a.columnStep] * b.data[k * b.rowStep + j * b.columnStep];
  }
  c[i * n + j] += sum;
}
