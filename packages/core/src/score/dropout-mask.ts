import { createLengths } from '../attention/host/sequences.ts';
import type { AttentionProblem, Operands } from '../attention/problem/problem.ts';
import { Tensor } from '../tensor/tensor.ts';
import { createProblemDropout } from './dropout.ts';

/**
 * All dropout decisions, u8 (B, Hq, Sq, Skv), 1 = kept, including those of hidden pairs; 0 beyond packed and
 * ragged sequences.
 */
export function dropoutMaskOf(problem: AttentionProblem, operands: Operands<Tensor>): Tensor {
  const { B, Hq, Sq, Skv, q, k } = problem;
  if (B * Hq * Sq * Skv === 0) return Tensor.zeros([B, Hq, Sq, Skv], { dtype: 'u8' });
  const lengths = createLengths(problem, operands);
  const { keepRow } = createProblemDropout(problem, operands);
  const mask = Tensor.zeros([B, Hq, Sq, Skv], { dtype: 'u8' });
  const data = mask.data as Uint8Array;
  for (let b = 0; b < B; b++) {
    const rows = q.starts === 'strided' ? Sq : lengths.q.length(b);
    const columns = k.starts === 'strided' ? Skv : lengths.kv.length(b);
    for (let h = 0; h < Hq; h++) {
      for (let i = 0; i < rows; i++) keepRow(b, h, i, 0, columns, data, ((b * Hq + h) * Sq + i) * Skv);
    }
  }
  return mask;
}
