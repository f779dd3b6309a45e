import { operandIndex, rowIndex } from '../../attention/host/result-index.ts';
import type { SequenceSide } from '../../attention/host/sequences.ts';
import { callerShape, rowShape } from '../../attention/problem/describe.ts';
import type { AttentionProblem, LengthsKind, OperandDesc } from '../../attention/problem/problem.ts';
import type { DType } from '../../tensor/dtype/dtype.ts';
import { Tensor } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { padded } from '../kernels/interface/panel.ts';
import { createStoreRows } from './row-store.ts';

/** A result under construction. */
export interface RowResult {
  /**
   * Rounds `count` rows of f32, from address `at` on and `padded(D)` numbers apart, and stores them at
   * positions from s0 on of head (b, h).
   */
  store(b: number, h: number, s0: number, count: number, at: number): void;
}

/** Makes the contiguous tensor of a result, zeroed unless all of it `isOverwritten` anyway. */
export type AllocateTensor = (shape: readonly number[], dtype: DType, isOverwritten: boolean) => Tensor;

export const allocateTensor = (shape: readonly number[], dtype: DType): Tensor =>
  Tensor.zeros(shape, { dtype });

/** An allocator that returns an existing tensor if there is one. The caller has zeroed tensors with gaps. */
export function allocateIn(tensor: Tensor | null | undefined, otherwise: AllocateTensor): AllocateTensor {
  if (!tensor) return otherwise;
  return (_shape, _dtype, isOverwritten) => {
    if (!isOverwritten && tensor.isContiguous) tensor.data.fill(0);
    return tensor;
  };
}

/**
 * The tensor of a result like an operand: (B, H, S, D), or (T, H, D) when packed or ragged. Rows that belong
 * to no sequence are zero.
 */
export function allocateRows(desc: OperandDesc, lengths: LengthsKind, allocate: AllocateTensor): Tensor {
  return allocate(callerShape(desc), desc.dtype, desc.starts === 'strided' && lengths === 'full');
}

/** Makes a function that stores rows in a tensor of `allocateRows`. */
export function createRowResult(
  kernels: Kernels,
  tensor: Tensor,
  desc: OperandDesc,
  side: SequenceSide,
  raggedOffsets?: Tensor,
): RowResult {
  // (B, H, S, D), like the problem's own order of strides.
  const strides = desc.starts === 'strided' ? (tensor.strides as OperandDesc['strides']) : undefined;
  const indexOf = operandIndex(desc, side, raggedOffsets, strides);
  const D = desc.shape[3];
  const width = padded(D);
  const storeRows = createStoreRows(kernels, tensor, 64 * width);
  return {
    store(b, h, s0, count, at) {
      const to = indexOf(b, h, s0);
      // The rows of a result have a constant stride.
      storeRows(at, count, D, width, {
        at: to,
        rowStep: indexOf(b, h, s0 + 1) - to,
        step: strides?.[3] ?? 1,
      });
    },
  };
}

/**
 * The tensor of a row statistic, f32 (B, Hq, Sq), or (Hq, T) when q is packed; filled with `value`, which
 * stays in rows that belong to no sequence.
 */
export function allocateStatistic(
  problem: AttentionProblem,
  value: number,
  allocate: AllocateTensor,
): Tensor {
  const tensor = allocate(rowShape(problem), 'f32', true);
  tensor.data.fill(value);
  return tensor;
}

/** Stores one number per query row, from row i0 on. */
export type SetStatistic = (b: number, h: number, i0: number, values: Float32Array | Float64Array) => void;

/** Makes a function that stores numbers in a tensor of `allocateStatistic`. */
export function createStatistic(
  { data }: Tensor,
  problem: AttentionProblem,
  side: SequenceSide,
): SetStatistic {
  const indexOf = rowIndex(problem, side);
  return (b, h, i0, values) => data.set(values, indexOf(b, h, i0));
}
