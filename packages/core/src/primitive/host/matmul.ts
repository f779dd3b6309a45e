import { Tensor } from '../../tensor/tensor.ts';
import type { MatMulPrimitive } from '../primitive.ts';
import { lineWriter } from './lines/line-writer.ts';
import { batchStrides, forEachIndex, offsetOf, reader } from './lines/reader.ts';
import { runMap } from './map.ts';

/** Runs a sum of matrix products on host tensors, and computes `result` from it. */
export function runProduct(
  { terms = 1, result }: MatMulPrimitive,
  inputs: readonly Tensor[],
  c: Tensor,
): void {
  if (!result) {
    runMatMul(inputs.slice(0, 2 * terms), c);
    return;
  }
  const product = Tensor.zeros(c.shape);
  runMatMul(inputs.slice(0, 2 * terms), product);
  runMap({ kind: 'map', value: result }, [...inputs, product], c);
}

/** Runs the sum of the products of pairs of host tensors: summed in f64, each result rounded once. */
function runMatMul(operands: readonly Tensor[], c: Tensor): void {
  const rank = c.shape.length;
  const [m, n] = c.shape.slice(-2);
  const [cRow, cColumn] = c.strides.slice(rank - 2);
  const write = lineWriter(c);
  const [rows, columns] = [roundedUp(m), roundedUp(n)];
  const batch = c.shape.slice(0, -2);
  const terms: Term[] = [];
  for (let t = 0; t < operands.length; t += 2) terms.push(termOf(operands[t], operands[t + 1], batch));
  const panelC = new Float64Array(rows * columns);

  forEachIndex(batch, index => {
    panelC.fill(0);
    for (const { k, packA, packB } of terms) multiply(rows, columns, k, packA(index), packB(index), panelC);
    const to = c.offset + offsetOf(index, c.strides);
    for (let i = 0; i < m; i++) {
      write(panelC.subarray(i * columns, i * columns + n), n, to + i * cRow, cColumn);
    }
  });
}

/**
 * One product of the sum: its inner dimension, and functions that pack its operands in bands for a batch
 * index.
 */
interface Term {
  readonly k: number;
  readonly packA: (index: readonly number[]) => Float64Array;
  readonly packB: (index: readonly number[]) => Float64Array;
}

function termOf(a: Tensor, b: Tensor, batch: readonly number[]): Term {
  const row = b.rank - 2;
  const columnsOfB = b.permute(...b.shape.slice(0, row).keys(), row + 1, row);
  return { k: a.shape[a.rank - 1], packA: packer(a, batch), packB: packer(columnsOfB, batch) };
}

/**
 * Packs a matrix of a batch in bands of four rows (columns of B), depth by depth, padded with zeros. Blocks
 * of 4×4 cover C and read both operands in storage order. A matrix that is needed again stays packed.
 */
function packer(t: Tensor, batch: readonly number[]): (index: readonly number[]) => Float64Array {
  const [lines, depth] = t.shape.slice(-2);
  const [line, step] = t.strides.slice(-2);
  const strides = batchStrides(t, batch);
  const read = reader(t);
  const panel = new Float64Array(roundedUp(lines) * depth);
  let packed = -1;
  return index => {
    const from = t.offset + offsetOf(index, strides);
    if (from === packed) return panel;
    packed = from;
    for (let d = 0; d < depth; d++) {
      for (let i = 0; i < lines; i++) panel[inBand(i, d, depth)] = read(from + i * line + d * step);
    }
    return panel;
  };
}

const roundedUp = (lines: number): number => lines + (-lines & 3);

/** The index of the element at `depth` of a row (of A) or column (of B), in bands of four with depth k. */
function inBand(line: number, depth: number, k: number): number {
  return (line & ~3) * k + depth * 4 + (line & 3);
}

/**
 * C += A·B, in bands, for dimensions that are multiples of 4, in blocks of 4×4 that the compiler keeps in
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
      c[to] += c00;
      c[to + 1] += c01;
      c[to + 2] += c02;
      c[to + 3] += c03;
      c[to + n] += c10;
      c[to + n + 1] += c11;
      c[to + n + 2] += c12;
      c[to + n + 3] += c13;
      c[to + 2 * n] += c20;
      c[to + 2 * n + 1] += c21;
      c[to + 2 * n + 2] += c22;
      c[to + 2 * n + 3] += c23;
      c[to + 3 * n] += c30;
      c[to + 3 * n + 1] += c31;
      c[to + 3 * n + 2] += c32;
      c[to + 3 * n + 3] += c33;
    }
  }
}
