import type { SequenceSide } from '../attention/lengths.ts';
import type { AttentionProblem, OperandDesc } from '../attention/problem.ts';
import { callerShape, operandIndex, rowIndex, rowShape } from '../attention/result-layout.ts';
import { bitEncoder } from '../tensor/convert.ts';
import { Tensor } from '../tensor/tensor.ts';
import type { Memory } from './kernels/memory.ts';

/** A result under construction, zero until rows are stored. */
export interface RowResult {
  readonly tensor: Tensor;
  /** Rounds `count` rows of f32 (row r at address `at` + r·`ld`) to positions from s0 on of head (b, h). */
  store(b: number, h: number, s0: number, count: number, at: number, ld: number): void;
}

/** A contiguous result in the caller's shape of an operand: (B, H, S, D), or (T, H, D) when packed or ragged. */
export function createRowResult(
  memory: Memory,
  desc: OperandDesc,
  side: SequenceSide,
  raggedOffsets?: Tensor,
): RowResult {
  const tensor = Tensor.zeros(callerShape(desc), { dtype: desc.dtype });
  const place = operandIndex(desc, side, raggedOffsets);
  const D = desc.shape[3];
  const { data } = tensor;
  const encode = desc.dtype === 'f32' ? null : bitEncoder(desc.dtype);
  return {
    tensor,
    store(b, h, s0, count, at, ld) {
      const { f32, i32 } = memory;
      // Rows of a result are equally far apart.
      if (!encode && ld === 4 * D && place(b, h, s0 + count - 1) - place(b, h, s0) === (count - 1) * D) {
        data.set(f32.subarray(at >> 2, (at >> 2) + count * D), place(b, h, s0));
        return;
      }
      for (let r = 0; r < count; r++) {
        const target = place(b, h, s0 + r);
        const source = (at + r * ld) >> 2;
        if (encode) for (let d = 0; d < D; d++) data[target + d] = encode(i32[source + d]);
        else for (let d = 0; d < D; d++) data[target + d] = f32[source + d];
      }
    },
  };
}

/** One number per query row, f32: (B, Hq, Sq), or (Hq, T) when q is packed. */
export interface StatisticResult {
  readonly tensor: Tensor;
  set(b: number, h: number, i: number, value: number): void;
}

/** A row statistic that is `value` for rows that belong to no sequence. */
export function createStatistic(
  problem: AttentionProblem,
  side: SequenceSide,
  value: number,
): StatisticResult {
  const tensor = Tensor.zeros(rowShape(problem));
  const { data } = tensor;
  data.fill(value);
  const place = rowIndex(problem, side);
  return {
    tensor,
    set: (b, h, i, x) => {
      data[place(b, h, i)] = x;
    },
  };
}
