import { dequantiseBlocks, type Mxfp8DType } from '../../mxfp8/quantise.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { describeDense } from '../problem/describe.ts';
import { isRounded, type Mxfp8OperandName, mxfp8Operands } from '../problem/mxfp8.ts';
import type { AttentionProblem, Operands } from '../problem/problem.ts';
import { required } from './required.ts';

/**
 * Turns an MXFP8 problem into one with f32 operands, which is exact (8 bits times a power of two). The engine
 * still has to round P and dS. The other roundings of q, k and dO, which backward takes, stay in `mxfp8`,
 * also as f32. Other problems are returned unchanged.
 * @throws InvalidArgumentError if an operand that the problem needs is missing.
 */
export function dequantised<O extends Operands<Tensor>>(
  problem: AttentionProblem,
  operands: O,
): { readonly problem: AttentionProblem; readonly operands: O } {
  const { fp8 } = problem;
  if (fp8?.kind !== 'blocks') return { problem, operands };
  const { layout } = fp8;
  const given = required('mxfp8', operands.mxfp8);
  const plain = (name: Mxfp8OperandName): Tensor => {
    const { scales, axis } = mxfp8Operands[name];
    const values = required(`mxfp8.${name}`, isRounded(name) ? given[name] : operands[name]);
    return dequantiseBlocks({ values, scales: required(`mxfp8.${scales}`, given[scales]) }, axis, layout);
  };
  const [q, k, v] = [plain('q'), plain('k'), plain('v')];
  const mxfp8 = given.qT
    ? { qT: plain('qT'), kT: plain('kT'), dO8: plain('dO8'), dOT: plain('dOT') }
    : undefined;
  return {
    problem: {
      ...problem,
      q: describeDense('q', q),
      k: describeDense('k', k),
      v: describeDense('v', v),
      // The rules have refused every other dtype.
      fp8: { kind: 'dequantised', dtype: problem.q.dtype as Mxfp8DType },
    },
    operands: { ...operands, q, k, v, mxfp8 },
  };
}
