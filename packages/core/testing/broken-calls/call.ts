import type { BackwardInputs } from '../../src/attention/options/options.ts';
import type { ErrorCode } from '../../src/errors.ts';
import { Tensor } from '../../src/tensor/tensor.ts';

/**
 * A call that breaks one rule: its argument and code, what the message says about value and rule, and how the
 * call differs from a valid one.
 */
export interface BrokenCall {
  readonly argument: string;
  readonly code: ErrorCode;
  readonly says: RegExp;
  readonly inputs?: Partial<BackwardInputs<Tensor>>;
  readonly options?: object;
  /** The rule exists only in backward. */
  readonly backward?: true;
}

export const f32 = (...shape: number[]): Tensor => Tensor.zeros(shape);
export const typed = (dtype: Tensor['dtype'], ...shape: number[]): Tensor => Tensor.zeros(shape, { dtype });
export const i32 = (...values: number[]): Tensor => Tensor.from(values, [values.length], { dtype: 'i32' });
export const [B, H, S, D] = [2, 2, 3, 4];
/** A call that breaks no rule. */
export const goodCall: BackwardInputs<Tensor> = {
  ...{ q: f32(B, H, S, D), k: f32(B, H, S, D), v: f32(B, H, S, D), o: f32(B, H, S, D), dO: f32(B, H, S, D) },
  lse: f32(B, H, S),
};
const broken =
  (code: ErrorCode) =>
  (
    argument: string,
    says: RegExp,
    rest: Pick<BrokenCall, 'inputs' | 'options' | 'backward'>,
  ): BrokenCall => ({ argument, says, code, ...rest });
export const shape = broken('INVALID_SHAPE');
export const dtype = broken('INVALID_DTYPE');
export const value = broken('INVALID_ARGUMENT');

/** Tensors of two packed sequences. */
export const packed = {
  q: f32(5, H, D),
  k: f32(5, H, D),
  v: f32(5, H, D),
  o: f32(5, H, D),
  dO: f32(5, H, D),
  lse: f32(H, 5),
};
export const cuSeqLens = { cuSeqLensQ: [0, 2, 5], cuSeqLensKv: [0, 2, 5] };
/** Keys and values in pages. */
export const pages = { pageTableK: typed('i32', 2, 2), pageTableV: typed('i32', 2, 2), seqLensKv: [1, 1] };
export const paged = { k: f32(4, H, 2, D), v: f32(4, H, 2, D) };
