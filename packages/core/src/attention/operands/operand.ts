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
 * An operand or a result of attention, by the name that options, bindings and errors use. The operands of
 * `fp8` and `mxfp8`, and the tensors that a mod captures (`captures.NAME`), are not listed here: the call
 * names them.
 */
export type OperandName = RaggedName | ListName | TensorName | RowsName | ResultName | NumberName;

/**
 * The form in which a call takes an operand: `tensor`, a tensor in its own shape and strides; `list`, a
 * contiguous vector or an array of numbers; `table`, a page table (B, pages), or a vector when packed;
 * `rows`, a contiguous tensor with one number per query row; `number`, a number that is read on the host when
 * the call is made.
 */
export type OperandForm = 'tensor' | 'list' | 'table' | 'rows' | 'number';

/** One dimension of a footprint: `count` entries that are `stride` elements apart. */
export interface FootprintDim {
  /** The number of entries. */
  readonly count: number;
  /** Elements from one entry to the next. */
  readonly stride: number;
}

/**
 * The elements of a tensor that the work on one batch entry, head and row touches: `inner` consecutive
 * elements from the offset that `batches`, `heads` and `rows` give.
 */
export interface Footprint {
  /** The entries of the batch dimension. */
  readonly batches: FootprintDim;
  /** The entries of the head dimension. */
  readonly heads: FootprintDim;
  /** The entries of the dimension of queries or keys. */
  readonly rows: FootprintDim;
  /** Whether the rows are those of queries or of keys. */
  readonly side: 'q' | 'kv';
  /** The number of consecutive elements from each of these offsets on. */
  readonly inner: number;
}

/** How an operand of one problem is laid out in memory. */
export interface OperandLayout {
  /** The dtypes that the operand may have; only the problem's own dtype if kernels depend on it. */
  readonly dtypes: readonly DType[];
  /** The shape that the caller sees: (B, H, S, D), or (T, H, D) when packed or ragged. */
  readonly shape: Shape;
  /** In elements. Strides of dimensions of size 1 are not read. */
  readonly strides: Strides;
  /** Null if any part of a call may read all of the tensor. */
  readonly footprint: Footprint | null;
}

/** The description of one operand or result. */
export interface OperandRow {
  /** The form in which a call takes the operand. */
  readonly form: OperandForm;
  /** What forward does with the tensor; absent if it does not use the tensor. */
  readonly forward?: 'read' | 'write';
  /** What backward does with the tensor; absent if it does not use the tensor. */
  readonly backward?: 'read' | 'write';
  /** The option that gives the tensor, if its name differs. */
  readonly option?: string;
  /** The dtypes that the tensor may have; absent for numbers. */
  readonly dtypes?: readonly DType[];
  /** The number of entries of a list. */
  readonly length?: (extents: Pick<AttentionProblem, 'B' | 'Hq'>) => number;
  /** Whether an engine may gather the tensor with others into one binding. */
  readonly packable?: boolean;
  /** The tensor's layout in memory; null if the problem does not have the tensor. */
  readonly layout?: (problem: AttentionProblem, backward: BackwardProblem | null) => OperandLayout | null;
}
