import {
  type Alignment,
  type DropoutSchemeName,
  InvalidArgumentError,
  nearestName,
  type TensorDesc,
  type Window,
} from '@tilewise/core';
import { bandOf, normaliseCall } from '@tilewise/core/engine';
import { checkNames } from '../../ir/check-names.ts';
import { storageDesc } from '../../ir/tensor/storage.ts';
import { call, traceOf } from './operation-call.ts';
import { isNumber, type Operand, type Variable } from './trace.ts';

/** The options of attention, which computes softmax(scale·q·kᵀ)·v. */
export interface AttentionOptions {
  /** The factor of q·kᵀ. Default: 1/√Dqk. */
  readonly scale?: number | undefined;
  /**
   * Each query sees only the keys up to its own. `true` is top-left: query i belongs to key i. With
   * `'bottom-right'`, the last query belongs to the last key.
   */
  readonly causal?: boolean | Alignment | undefined;
  /** The keys that a query sees around its own. Default: all keys that `causal` shows. */
  readonly window?: Window | undefined;
  /** c in c·tanh(score / c), which limits the scores. Default: no limit. */
  readonly softcap?: number | undefined;
  /** A bias that is added to the scores; broadcasts to (B, Hq, Sq, Skv). */
  readonly bias?: Operand | undefined;
  /** f32 (Hq): the slopes of ALiBi, which adds −slope·|i + off − j|, with `off` as for the diagonal. */
  readonly alibi?: Operand | undefined;
  /** bool, true where a key is visible; broadcasts to (B, Hq, Sq, Skv). */
  readonly mask?: Operand | undefined;
  /** i32 (B): the number of queries in each sequence. Default: all. */
  readonly seqLensQ?: Operand | undefined;
  /** i32 (B): the number of keys in each sequence. Default: all. */
  readonly seqLensKv?: Operand | undefined;
  /** f32 (Hq): a score without a value, which each softmax counts too, as in gpt-oss. Default: none. */
  readonly sink?: Operand | undefined;
  /** Dropout of the probabilities. Default: none. */
  readonly dropout?: AttentionDropout | undefined;
}

/** Dropout of the attention probabilities. */
export interface AttentionDropout {
  /** The probability to drop. */
  readonly p: number;
  /**
   * The seed of the mask: a number, or a variable of dtype i64 and shape [], which may differ between runs.
   */
  readonly seed: Operand;
  /** The offset of the mask, a number or a variable as for the seed. Default: 0. */
  readonly offset?: Operand | undefined;
  /**
   * The system whose masks are drawn. Default: `onednn`, the masks of the operation `dropout`. `sdpa` has
   * another default: pass `torch-efficient` to draw its masks.
   */
  readonly scheme?: DropoutSchemeName | undefined;
}

const optionNames = 'scale causal window softcap bias alibi mask seqLensQ seqLensKv sink dropout'.split(' ');

/**
 * Attention as one operation. Its output and log-sum-exp are stored for the backward pass.
 * @param q (B, Hq, Sq, Dqk)
 * @param k (B, Hk, Skv, Dqk), where Hq is a multiple of Hk
 * @param v (B, Hv, Skv, Dv)
 * @returns (B, Hq, Sq, Dv)
 * @throws the errors of `sdpa` for tensors and options that do not fit each other.
 */
export function attention(q: Operand, k: Operand, v: Operand, options: AttentionOptions = {}): Variable {
  checkNames('options', options, optionNames);
  const { scale, causal, window, softcap, dropout, ...tensors } = options;
  const { left, right, align } = bandOf({ causal, window }) ?? {};
  const operands: Record<string, Operand> = { q, k, v };
  for (const [name, operand] of Object.entries(tensors)) if (operand !== undefined) operands[name] = operand;
  if (dropout) {
    checkNames('options.dropout', dropout, ['p', 'seed', 'offset', 'scheme']);
    const { seed, offset = 0 } = dropout;
    if (seed === undefined) throw new InvalidArgumentError('dropout.seed', 'must be given');
    // A number would become a constant in the dtype of q, which rounds it.
    const word = (x: Operand): Operand =>
      isNumber(x) ? traceOf('attention', [q, k, v]).constant(x, 'i64') : x;
    Object.assign(operands, { 'dropout.seed': word(seed), 'dropout.offset': word(offset) });
  }
  const [o] = call(
    'Sdpa',
    Object.values(operands),
    {
      operands: Object.keys(operands).join(' '),
      results: 'o lse',
      ...{ scale, softcap, align, p: dropout?.p, scheme: dropout?.scheme },
      ...{ left: left ?? undefined, right: right ?? undefined },
    },
    // Kernels write lse in f32 for operands of any dtype.
    [isNumber(q) ? 'f32' : q?.dtype, 'f32'],
  );
  const [{ inputs }] = o.trace.graph.nodes.slice(-1);
  const at = Object.fromEntries(Object.keys(operands).map((name, n) => [name, storageDesc(inputs[n])]));
  const { bias, alibi, mask, sink } = at as Readonly<Record<string, TensorDesc>>;
  // Lengths, seeds and offsets are checked when the function is compiled and when it runs.
  normaliseCall(
    { q: at.q, k: at.k, v: at.v },
    {
      ...{ scale, causal, window, softcap, bias, alibi, mask, sink },
      dropout: dropout && { ...dropout, seed: 0, offset: 0 },
    },
    { fp8: null, data: null, nearestName },
  );
  return o;
}
