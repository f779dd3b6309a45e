import { dtypeInfo } from '../../../tensor/dtype/dtype.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import type { LoopHost } from '../../kernels/interface/module-host.ts';
import { PANEL, padded } from '../../kernels/interface/panel.ts';
import { convertLines } from '../../loops/convert-lines.ts';
import { formatOf } from '../../loops/format.ts';
import { readable } from '../../operands/resident.ts';
import type { MatrixStrides } from './matrix-batch.ts';

/** The matrices of a tensor as lines of f32: their rows, or their columns if the columns are contiguous. */
export interface MatrixLines {
  /** Whether the lines are columns. */
  readonly isTransposed: boolean;
  /** Whether lines are read in place, with a constant stride, from any thread. */
  readonly isInPlace: boolean;
  /** Bytes from one line to the next. */
  readonly ld: number;
  /**
   * The address of `length` elements, from `start` on, of `count` lines, from `first` on, of the matrix that
   * starts `offset` elements after the first element of the tensor. Lines may be read up to a multiple of
   * `PANEL`, and so may the elements of each line; the extra elements are undefined.
   */
  load(offset: number, first: number, count: number, start: number, length: number): number;
}

/**
 * Makes the lines of the matrices of a float tensor. They are read in place if they are f32, and otherwise
 * from a copy of at most `rows` rows and `columns` columns at a time.
 */
export function createMatrixLines(
  { memory }: Kernels,
  host: LoopHost,
  tensor: Tensor,
  { row: rowStep, column: columnStep }: MatrixStrides,
  rows: number,
  columns: number,
): MatrixLines {
  const { dtype, shape, strides } = tensor;
  const { bytes } = dtypeInfo[dtype];
  const isTransposed = rowStep === 1 && columnStep !== 1;
  const [lineStep, step] = isTransposed ? [columnStep, rowStep] : [rowStep, columnStep];
  const at = readable(memory, tensor);
  const [lines, length] = isTransposed ? [columns, rows] : [rows, columns];
  const last = strides.reduce((sum, stride, d) => sum + stride * Math.max(shape[d] - 1, 0), 0);
  // The end of the last line, with the elements that may be read beyond it.
  const end = at + 4 * (last + (PANEL + 1) * Math.max(lineStep, 1) + length + PANEL);
  if (dtype === 'f32' && step === 1 && end <= memory.bytes) {
    return {
      isTransposed,
      isInPlace: true,
      ld: 4 * lineStep,
      load: (offset, first, _count, start) => at + 4 * (offset + first * lineStep + start),
    };
  }
  const ld = 4 * padded(length);
  const copy = memory.scratch(padded(lines) * padded(length) + PANEL).at;
  const format = formatOf(dtype) ?? 'f32';
  return {
    isTransposed,
    isInPlace: false,
    ld,
    load(offset, first, count, start, wanted) {
      const from = at + bytes * (offset + first * lineStep + start * step);
      const source = { format, at: from, lineBytes: bytes * lineStep, stepBytes: bytes * step };
      convertLines(host, memory, source, count, wanted, copy, ld);
      return copy;
    },
  };
}
