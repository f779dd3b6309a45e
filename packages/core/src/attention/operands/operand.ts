import type { DType } from '../../tensor/dtype/dtype.ts';
import type { Shape, Strides } from '../../tensor/shape.ts';
import type {
  AttentionProblem,
  BackwardAmaxName,
  BackwardProblem,
  ForwardAmaxName,
  GradientName,
  ListName,
  RaggedName,
  TensorName,
} from '../problem/problem.ts';

type RowsName = 'lse' | 'dLse' | 'max' | 'sumExp';
type ResultName = GradientName | 'outputs.dropoutMask' | ForwardAmaxName | BackwardAmaxName;

type NumberName = 'scale' | 'dropout.scale' | 'dropout.seed' | 'dropout.offset';

/**
 * An operand or a result of attention, by the name that options, bindings and errors use. Tensors that a mod
 * captures (`captures.NAME`), and the operands of `fp8` and `mxfp8`, are named by the call.
 */
export type OperandName = RaggedName | ListName | TensorName | RowsName | ResultName | NumberName;

/**
 * How a call takes an operand: `tensor` in its own shape and strides; `list`, a contiguous vector, or
 * numbers; `table`, a page table (B, pages), or a vector when packed; `rows`, contiguous with one number per
 * query row; `number`, read on the host when the call is made.
 */
export type OperandForm = 'tensor' | 'list' | 'table' | 'rows' | 'number';

/** The dtypes that an operand may have, and how an error names them. */
export interface DTypeSet {
  readonly dtypes: readonly DType[];
  readonly what: string;
}

/** So many entries along a dimension, `stride` elements apart. */
export interface FootprintDim {
  readonly count: number;
  readonly stride: number;
}

/**
 * Which elements of a tensor the work on one batch entry, head and row touches: `inner` consecutive ones from
 * there.
 */
export interface Footprint {
  readonly batches: FootprintDim;
  readonly heads: FootprintDim;
  readonly rows: FootprintDim;
  /** Whether the rows are those of queries or of keys. */
  readonly side: 'q' | 'kv';
  readonly inner: number;
}

/** How an operand of one problem lies in memory. */
export interface OperandLayout {
  /** The dtypes that the operand may have. Where kernels depend on the dtype, the one of the problem. */
  readonly dtypes: readonly DType[];
  /** As the caller sees the tensor: (B, H, S, D), or (T, H, D) when packed or ragged. */
  readonly shape: Shape;
  /** In elements; those of dimensions of one element are not read. */
  readonly strides: Strides;
  /** Null where any part of a call may read all of the tensor. */
  readonly footprint: Footprint | null;
}

/** The description of one operand or result. */
export interface OperandRow {
  readonly form: OperandForm;
  /** What each pass does with the tensor; absent where the pass does not use the tensor. */
  readonly forward?: 'read' | 'write';
  readonly backward?: 'read' | 'write';
  /** The option that gives it, where that has another name. */
  readonly option?: string;
  /** The dtypes that it may have; absent of numbers. */
  readonly dtypes?: DTypeSet;
  /** Entries of a list. */
  readonly length?: (extents: Pick<AttentionProblem, 'B' | 'Hq'>) => number;
  /** Whether it may be copied behind others and read through one binding with them. */
  readonly packable?: boolean;
  /** How it lies in memory; null where the problem has none. */
  readonly layout?: (problem: AttentionProblem, backward: BackwardProblem | null) => OperandLayout | null;
}
