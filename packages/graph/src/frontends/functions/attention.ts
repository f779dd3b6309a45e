import { call } from './operation-call.ts';
import type { Operand, Variable } from './trace.ts';

/** The options of attention beside softmax(scale·q·kᵀ)·v. */
export interface AttentionOptions {
  /** Default: 1/√Dqk. */
  readonly scale?: number | undefined;
  /** Queries see keys up to their own, from the first on, or with `'bottom-right'` counted from the last. */
  readonly causal?: boolean | 'bottom-right' | undefined;
  /** How many keys before their own queries see; all unless given. */
  readonly left?: number | undefined;
  readonly softcap?: number | undefined;
  /** Added to the scores, broadcast to (B, Hq, Sq, Skv). */
  readonly bias?: Operand | undefined;
  /** bool, broadcast to (B, Hq, Sq, Skv): true where a key is seen. */
  readonly mask?: Operand | undefined;
  /** i32 (B): how many queries and keys each sequence has. */
  readonly seqLensQ?: Operand | undefined;
  readonly seqLensKv?: Operand | undefined;
  /**
   * Probability to drop, and the numbers that the mask is drawn from: variables of dtype i64 and shape [].
   */
  readonly dropout?: { readonly p: number; readonly seed: Operand; readonly offset: Operand } | undefined;
}

/**
 * Attention as one call, which keeps its output and its log-sum-exp for the backward pass.
 * @param q (B, Hq, Sq, Dqk)
 * @param k (B, Hk, Skv, Dqk), Hq being a multiple of Hk
 * @param v (B, Hv, Skv, Dv)
 * @returns (B, Hq, Sq, Dv)
 */
export function attention(q: Operand, k: Operand, v: Operand, options: AttentionOptions = {}): Variable {
  const { scale, causal = false, left, softcap, dropout, ...tensors } = options;
  const operands: Record<string, Operand> = { q, k, v };
  for (const [name, operand] of Object.entries(tensors)) if (operand !== undefined) operands[name] = operand;
  if (dropout) Object.assign(operands, { 'dropout.seed': dropout.seed, 'dropout.offset': dropout.offset });
  const [o] = call(
    'Sdpa',
    Object.values(operands),
    {
      operands: Object.keys(operands).join(' '),
      results: 'o lse',
      ...{ scale, softcap, left, p: dropout?.p },
      ...(causal !== false && { right: 0 }),
      ...((causal !== false || left !== undefined) && {
        align: causal === 'bottom-right' ? causal : 'top-left',
      }),
    },
    2,
  );
  return o;
}
