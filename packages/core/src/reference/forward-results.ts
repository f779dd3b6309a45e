import { hostOperand } from '../attention/host/addressing.ts';
import { operandIndex } from '../attention/host/result-index.ts';
import { createLengths, type SequenceSide } from '../attention/host/sequences.ts';
import type { BackwardInputs } from '../attention/options/options.ts';
import type {
  AttentionProblem,
  BackwardOperands,
  BackwardProblem,
  Operands,
} from '../attention/problem/problem.ts';
import { Tensor } from '../tensor/tensor.ts';
import { type Float64Tensor, zeros } from './float64-tensor.ts';
import { type HeadReader, headReader } from './head/read.ts';

/** The inputs of backward; the forward results among them may be those of `sdpaFloat64`, unrounded. */
export type BackwardInputsFloat64 = Omit<BackwardInputs<Tensor>, 'o' | 'lse'> & {
  /** The output of forward, rounded or not. */
  readonly o: Tensor | Float64Tensor;
  /** The lse of forward, rounded or not. */
  readonly lse: Tensor | Float64Tensor;
};

/** The results of forward that backward reads. */
export interface ForwardResults {
  readonly o: HeadReader;
  /** Row-major (B, Hq, Sq), or (Hq, T) when packed. */
  readonly lse: Float64Array;
}

/** Reads the results of forward from the inputs of a backward call, rounded or not. */
export function forwardResults(
  { o, lse }: BackwardInputsFloat64,
  { forward }: BackwardProblem,
  operands: BackwardOperands<Tensor>,
): ForwardResults {
  const side = createLengths(forward, operands).q;
  return {
    o: isUnrounded(o)
      ? resultRows(forward, operands, side, o)
      : headReader(hostOperand('o', forward.o, operands, side)),
    lse: isUnrounded(lse) ? lse.values : operands.lse.toFloat64(),
  };
}

/** The arguments of a call that is not checked yet may have any type. */
function isUnrounded(t: Tensor | Float64Tensor | undefined): t is Float64Tensor {
  return typeof t === 'object' && t !== null && 'values' in t;
}

/** The inputs of a backward call, with unrounded forward results converted to f32 tensors. */
export function asTensors(inputs: BackwardInputsFloat64): BackwardInputs<Tensor> {
  const { o, lse }: Partial<BackwardInputsFloat64> = inputs ?? {};
  if (!isUnrounded(o) && !isUnrounded(lse)) return inputs as BackwardInputs<Tensor>;
  return { ...inputs, o: asTensor(inputs.o), lse: asTensor(inputs.lse) };
}

function asTensor(t: Tensor | Float64Tensor): Tensor {
  return isUnrounded(t) ? Tensor.from(t.values, t.shape) : t;
}

/** Reads rows of an unrounded `o`. */
function resultRows(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  side: SequenceSide,
  { values }: Float64Tensor,
): HeadReader {
  const indexOf = operandIndex(problem.o, side, operands['raggedOffsets.o']);
  const { Dv } = problem;
  return (b, h) => {
    const rows = zeros(side.length(b) * Dv);
    for (let i = 0; i < side.length(b); i++) {
      const at = indexOf(b, h, i);
      rows.set(values.subarray(at, at + Dv), i * Dv);
    }
    return rows;
  };
}
