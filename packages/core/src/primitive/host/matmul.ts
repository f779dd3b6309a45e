import { Tensor } from '../../tensor/tensor.ts';
import type { MatMulPrimitive } from '../primitive.ts';
import { lineWriter } from './line-writer.ts';
import { runMap } from './map.ts';
import { broadcastStrides, forEachIndex, offsetOf, reader } from './reader.ts';

/** Runs a matrix product on host tensors, and what becomes of it. */
export function runProduct({ result }: MatMulPrimitive, inputs: readonly Tensor[], c: Tensor): void {
  if (!result) {
    runMatMul(inputs, c);
    return;
  }
  const product = Tensor.zeros(c.shape);
  runMatMul(inputs, product);
  runMap({ kind: 'map', value: result }, [...inputs, product], c);
}

/** Runs a matrix product on host tensors: summed in f64, each result rounded once. */
function runMatMul([a, b]: readonly Tensor[], c: Tensor): void {
  const rank = c.shape.length;
  const [m, n] = c.shape.slice(-2);
  const k = a.shape[a.shape.length - 1];
  const batch = c.shape.slice(0, -2);
  const batchA = broadcastStrides({ ...desc(a), shape: a.shape.slice(0, -2) }, batch);
  const batchB = broadcastStrides({ ...desc(b), shape: b.shape.slice(0, -2) }, batch);
  const [aRow, aColumn] = a.strides.slice(-2);
  const [bRow, bColumn] = b.strides.slice(-2);
  const [cRow, cColumn] = c.strides.slice(rank - 2);
  const readA = reader(a);
  const readB = reader(b);
  const write = lineWriter(c);
  const rows = m + (-m & 3);
  const columns = n + (-n & 3);
  // Bands of four rows of A and of four columns of B, each depth after depth, and padded with zeros: blocks
  // of 4×4 cover C and read both in the order in which they lie.
  const panelA = new Float64Array(rows * k);
  const panelB = new Float64Array(k * columns);
  const panelC = new Float64Array(rows * columns);
  let packedB = -1;

  forEachIndex(batch, index => {
    const fromA = a.offset + offsetOf(index, batchA);
    for (let i = 0; i < m; i++) {
      for (let d = 0; d < k; d++) panelA[inBand(i, d, k)] = readA(fromA + i * aRow + d * aColumn);
    }
    const fromB = b.offset + offsetOf(index, batchB);
    if (fromB !== packedB) {
      for (let d = 0; d < k; d++) {
        for (let j = 0; j < n; j++) panelB[inBand(j, d, k)] = readB(fromB + d * bRow + j * bColumn);
      }
      packedB = fromB;
    }
    multiply(rows, columns, k, panelA, panelB, panelC);
    const to = c.offset + offsetOf(index, c.strides);
    for (let i = 0; i < m; i++) {
      write(panelC.subarray(i * columns, i * columns + n), n, to + i * cRow, cColumn);
    }
  });
}

function desc({ dtype, strides }: Tensor): Pick<Tensor, 'dtype' | 'strides'> {
  return { dtype, strides };
}

/** Where the element at `depth` of a row (of A) or column (of B) lies in bands of four of depth k. */
function inBand(line: number, depth: number, k: number): number {
  return (line & ~3) * k + depth * 4 + (line & 3);
}

/**
 * C = A·B, in bands, for dimensions that are multiples of 4, in blocks of 4×4 that the compiler keeps in
 * registers.
 */
function multiply(m: number, n: number, k: number, a: Float64Array, b: Float64Array, c: Float64Array): void {
  for (let i = 0; i < m; i += 4) {
    for (let j = 0; j < n; j += 4) {
      let c00 = 0;
      let c01 = 0;
      let c02 = 0;
      let c03 = 0;
      let c10 = 0;
      let c11 = 0;
      let c12 = 0;
      let c13 = 0;
      let c20 = 0;
      let c21 = 0;
      let c22 = 0;
      let c23 = 0;
      let c30 = 0;
      let c31 = 0;
      let c32 = 0;
      let c33 = 0;
      for (let end = (i + 4) * k, s = i * k, t = j * k; s < end; s += 4, t += 4) {
        const b0 = b[t];
        const b1 = b[t + 1];
        const b2 = b[t + 2];
        const b3 = b[t + 3];
        const a0 = a[s];
        const a1 = a[s + 1];
        const a2 = a[s + 2];
        const a3 = a[s + 3];
        c00 += a0 * b0;
        c01 += a0 * b1;
        c02 += a0 * b2;
        c03 += a0 * b3;
        c10 += a1 * b0;
        c11 += a1 * b1;
        c12 += a1 * b2;
        c13 += a1 * b3;
        c20 += a2 * b0;
        c21 += a2 * b1;
        c22 += a2 * b2;
        c23 += a2 * b3;
        c30 += a3 * b0;
        c31 += a3 * b1;
        c32 += a3 * b2;
        c33 += a3 * b3;
      }
      const to = i * n + j;
      c[to] = c00;
      c[to + 1] = c01;
      c[to + 2] = c02;
      c[to + 3] = c03;
      c[to + n] = c10;
      c[to + n + 1] = c11;
      c[to + n + 2] = c12;
      c[to + n + 3] = c13;
      c[to + 2 * n] = c20;
      c[to + 2 * n + 1] = c21;
      c[to + 2 * n + 2] = c22;
      c[to + 2 * n + 3] = c23;
      c[to + 3 * n] = c30;
      c[to + 3 * n + 1] = c31;
      c[to + 3 * n + 2] = c32;
      c[to + 3 * n + 3] = c33;
    }
  }
}
