import { encoderOf } from '../../../tensor/dtype/convert.ts';
import { decodeTable } from '../../../tensor/dtype/decode-table.ts';
import type { Kernels } from '../interface/kernels.ts';
import { PANEL, PANEL_BYTES } from '../interface/panel.ts';
import type { PackKernels, RowKernels } from '../interface/tile-kernels.ts';
import { createMemory, type Memory } from '../memory/memory.ts';
import { typescriptProducts } from './products.ts';
import { typescriptScores } from './scores.ts';
import { typescriptSoftmax } from './softmax.ts';

/** The maximum size of their memory in bytes: the kernels shift addresses as signed integers of 32 bits. */
const MAX_BYTES = 2 ** 31;

/** Kernels for hosts without SIMD, with their own memory. Sums are computed in f64. */
export function typescriptKernels(): Kernels {
  let buffer = new ArrayBuffer(0);
  const memory = createMemory(
    {
      buffer,
      staysInPlace: false,
      grow(bytes) {
        const least = buffer.byteLength + bytes;
        if (least > MAX_BYTES) throw new RangeError(`the kernels cannot address ${least} bytes`);
        const needed = Math.min(Math.max(least, 2 * buffer.byteLength, 2 ** 16), MAX_BYTES);
        const larger = new ArrayBuffer(Math.ceil(needed / PANEL_BYTES) * PANEL_BYTES);
        new Uint8Array(larger).set(new Uint8Array(buffer));
        buffer = larger;
        return buffer;
      },
    },
    PANEL_BYTES,
  );
  return {
    variant: 'typescript',
    memory,
    ...typescriptProducts(memory),
    ...typescriptScores(memory),
    ...typescriptSoftmax(memory),
    ...rowKernels(memory),
    ...packKernels(memory),
  };
}

function rowKernels(memory: Memory): RowKernels {
  return {
    divideRows(m, width, rows, ld, divisors) {
      const { f32, f64 } = memory;
      for (let i = 0; i < m; i++) {
        const divisor = f64[(divisors >> 3) + i];
        if (divisor === 0) continue;
        const row = (rows + i * ld) >> 2;
        for (let at = row; at < row + width; at++) f32[at] /= divisor;
      }
    },
    addRows(m, width, rows, sums, ld) {
      const { f32 } = memory;
      const offset = (sums - rows) >> 2;
      for (let i = 0; i < m; i++) {
        const row = (rows + i * ld) >> 2;
        for (let at = row; at < row + width; at++) f32[at + offset] += f32[at];
      }
    },
    scaleRows(m, width, rows, ld, factor) {
      const { f32 } = memory;
      for (let i = 0; i < m; i++) {
        const row = (rows + i * ld) >> 2;
        for (let at = row; at < row + width; at++) f32[at] *= factor;
      }
    },
    dotRows(m, width, a, lda, b, ldb, out) {
      const { f32, f64 } = memory;
      for (let i = 0; i < m; i++) {
        const [rowA, rowB] = [(a + i * lda) >> 2, (b + i * ldb) >> 2];
        let sum = 0;
        for (let n = 0; n < width; n++) sum += f32[rowA + n] * f32[rowB + n];
        f64[(out >> 3) + i] = sum;
      }
    },
  };
}

function packKernels(memory: Memory): PackKernels {
  function decode(dtype: 'f16' | 'bf16', count: number, source: number, target: number): void {
    const { f32, u16 } = memory;
    const table = decodeTable(dtype);
    for (let n = 0; n < count; n++) f32[(target >> 2) + n] = table[u16[(source >> 1) + n]];
  }
  function encode(dtype: 'f16' | 'bf16', count: number, source: number, target: number): void {
    const { i32, u16 } = memory;
    const encodeBits = encoderOf(dtype);
    for (let n = 0; n < count; n++) u16[(target >> 1) + n] = encodeBits(i32[(source >> 2) + n]);
  }
  return {
    packRows(count, width, source, ld, target, panelBytes) {
      const { f32 } = memory;
      let zero = 0;
      for (let s = 0; s < count; s++) {
        for (let d = 0; d < width; d++) {
          const to = (target >> 2) + Math.floor(d / PANEL) * (panelBytes >> 2) + s * PANEL + (d % PANEL);
          const x = f32[((source + s * ld) >> 2) + d];
          f32[to] = x;
          // 0·x is 0 for a finite x and NaN for any other.
          zero += 0 * x;
        }
      }
      return zero === 0;
    },
    packColumns(count, depth, source, ld, target) {
      const { f32 } = memory;
      for (let s = 0; s < count; s++) {
        const to = (target >> 2) + (s - (s % PANEL)) * depth + (s % PANEL);
        for (let d = 0; d < depth; d++) f32[to + d * PANEL] = f32[((source + s * ld) >> 2) + d];
      }
    },
    decodeF16: (count, source, target) => decode('f16', count, source, target),
    decodeBf16: (count, source, target) => decode('bf16', count, source, target),
    encodeF16: (count, source, target) => encode('f16', count, source, target),
    encodeBf16: (count, source, target) => encode('bf16', count, source, target),
  };
}
