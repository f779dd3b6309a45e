import type { Tensor } from '../../tensor/tensor.ts';
import { lineWriter } from './line-writer.ts';
import { broadcastStrides, forEachIndex, offsetOf, reader } from './reader.ts';

/** Runs a matrix product on host tensors: summed in f64, each result rounded once. */
export function runMatMul([a, b]: readonly Tensor[], c: Tensor): void {
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
  // A row-major and B with its columns side by side, padded with zeros so that blocks of 4×4 cover C.
  const panelA = new Float64Array(rows * k);
  const panelB = new Float64Array(k * columns);
  const panelC = new Float64Array(rows * columns);
  let packedB = -1;

  forEachIndex(batch, index => {
    const fromA = a.offset + offsetOf(index, batchA);
    for (let i = 0; i < m; i++) {
      for (let d = 0; d < k; d++) panelA[i * k + d] = readA(fromA + i * aRow + d * aColumn);
    }
    const fromB = b.offset + offsetOf(index, batchB);
    if (fromB !== packedB) {
      for (let d = 0; d < k; d++) {
        for (let j = 0; j < n; j++) panelB[d * columns + j] = readB(fromB + d * bRow + j * bColumn);
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

/** C = A·B for dimensions that are multiples of 4, in blocks of 4×4 that the compiler keeps in registers. */
function multiply(m: number, n: number, k: number, a: Float64Array, b: Float64Array, c: Float64Array): void {
  for (let i = 0; i < m; i += 4) {
    const [r0, r1, r2, r3] = [i * k, (i + 1) * k, (i + 2) * k, (i + 3) * k];
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
      for (let d = 0, at = j; d < k; d++, at += n) {
        const b0 = b[at];
        const b1 = b[at + 1];
        const b2 = b[at + 2];
        const b3 = b[at + 3];
        const a0 = a[r0 + d];
        const a1 = a[r1 + d];
        const a2 = a[r2 + d];
        const a3 = a[r3 + d];
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
      const t = i * n + j;
      c.set([c00, c01, c02, c03], t);
      c.set([c10, c11, c12, c13], t + n);
      c.set([c20, c21, c22, c23], t + 2 * n);
      c.set([c30, c31, c32, c33], t + 3 * n);
    }
  }
}
