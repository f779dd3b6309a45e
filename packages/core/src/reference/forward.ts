import { normaliseOnHost } from '../attention/call/normalise-on-host.ts';
import { dequantised } from '../attention/host/dequantise.ts';
import { createLengths } from '../attention/host/sequences.ts';
import type { SdpaOptions } from '../attention/options/options.ts';
import type { AttentionProblem, Operands } from '../attention/problem/problem.ts';
import { dropoutMaskOf } from '../score/dropout-mask.ts';
import { createFp8 } from '../score/fp8.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { type Float64Tensor, filled, likeOperand, perRow, plain, raiseAmax } from './float64-tensor.ts';
import { heads } from './head/head.ts';
import { exponentials, largest, rounded, sum, times } from './head/row.ts';
import { addWeighted } from './head/row-products.ts';

/**
 * Forward results before rounding: o (B, Hq, Sq, Dv), or packed or ragged (T, Hq, Dv); the others (Hq, T) if
 * q is packed, else (B, Hq, Sq).
 */
export interface ForwardFloat64 {
  /** The output. */
  readonly o: Float64Tensor;
  /** The natural logarithm of the sum of e^score over each row, with the sink. */
  readonly lse: Float64Tensor;
  /** The largest score of each row, or its sink if that is larger. */
  readonly max: Float64Tensor;
  /** The sum of e^(score − max) of each row, with the sink. */
  readonly sumExp: Float64Tensor;
  /** u8 (B, Hq, Sq, Skv), 1 = kept; only if requested. */
  readonly dropoutMask?: Tensor;
  /** (1), if requested. */
  readonly amaxS?: Float64Tensor;
  /** (1), if requested: the largest |O32| of FP8, before scaleO. */
  readonly amaxO?: Float64Tensor;
}

/**
 * Attention by its definition, in float64 and unrounded. For query i of head h, over its visible keys j:
 *
 *     x_ij = scale · q_i·k_j           s_ij = softcap(mod(x_ij)) + bias_ij − slope_h · |i + off − j|
 *     m_i  = max(sink_h, max_j s_ij)   l_i  = e^(sink_h − m_i) + Σ_j e^(s_ij − m_i)
 *     p_ij = e^(s_ij − m_i) / l_i      o_i  = Σ_j z_ij p_ij v_j              lse_i = m_i + ln l_i
 *
 * where the sink's terms are absent without a sink, and dropout makes z_ij 0 or 1/(1−p). A row that sees no
 * key has o = 0, and without a sink m = lse = −∞ and l = 0; a row beyond its sequence is such a row even with
 * a sink.
 *
 * With the FP8 contract, q, k and v stand for the stored values times their descale, z_ij p_ij for descaleS ·
 * cast(scaleS · z_ij p_ij), and o is multiplied by scaleO (see `Fp8Options`). With block scales, z_ij e^(s_ij
 * − m_i) is rounded, and the sum is divided by l_i (see `Mxfp8Options`).
 *
 * @throws as `normalise`; InvalidArgumentError naming a tensor that is not on the host.
 */
export function sdpaFloat64(
  q: Tensor,
  k: Tensor,
  v: Tensor,
  options: SdpaOptions<Tensor> = {},
): ForwardFloat64 {
  const { problem, operands } = normaliseOnHost({ q, k, v }, options);
  return forward(problem, operands);
}

/** The results of a problem over host operands, unrounded; see `sdpaFloat64`. */
export function forward(asked: AttentionProblem, given: Operands<Tensor>): ForwardFloat64 {
  const { problem, operands } = dequantised(asked, given);
  const { Dv } = problem;
  const side = createLengths(problem, operands).q;
  const o = likeOperand(problem.o, side, operands['raggedOffsets.o']);
  const lse = perRow(problem, side, -Infinity);
  const max = perRow(problem, side, -Infinity);
  const sumExp = perRow(problem, side, 0);
  const sinks = operands.sink?.toFloat64();
  const fp8 = createFp8(problem, operands);
  const [amaxS, amaxO] = [filled([1], 0), filled([1], 0)];

  for (const head of heads(problem, operands)) {
    const { b, h, v, lengthQ } = head;
    const sink = sinks ? sinks[h] : -Infinity;
    for (let i = 0; i < lengthQ; i++) {
      const { j, s } = head.visibleKeys(i);
      const m = largest(s, sink);
      if (m === -Infinity) continue;
      const e = exponentials(s, m);
      const l = sum(e, Math.exp(sink - m));

      const at = lse.indexOf(b, h, i);
      max.values[at] = m;
      sumExp.values[at] = l;
      lse.values[at] = m + Math.log(l);

      // The divisor of P before the rounding; with block scales, e^(s − m) is rounded undivided.
      const before = problem.fp8?.kind === 'dequantised' ? 1 : l;
      const oAt = o.indexOf(b, h, i);
      const pz = times(e, head.dropout(i, j));
      raiseAmax(amaxS, largest(pz, 0) / l);
      const weights = rounded(pz, fp8.round, fp8.scaleS, before);
      addWeighted(o.values.subarray(oAt, oAt + Dv), ...withoutZeros(weights, j), v);
      for (let at = oAt; at < oAt + Dv; at++) {
        o.values[at] *= (fp8.descaleS * fp8.descaleV) / (l / before);
        raiseAmax(amaxO, o.values[at]);
        o.values[at] *= fp8.scaleO;
      }
    }
  }
  return {
    o: plain(o),
    lse: plain(lse),
    max: plain(max),
    sumExp: plain(sumExp),
    ...(problem.outputs.dropoutMask && { dropoutMask: dropoutMaskOf(problem, operands) }),
    ...(problem.outputs.amaxS && { amaxS }),
    ...(problem.outputs.amaxO && { amaxO }),
  };
}

/** The non-zero weights and their keys. A key with weight 0 contributes nothing, whatever its value. */
function withoutZeros(weights: Float64Array, j: Int32Array): [Float64Array, Int32Array] {
  const kept = new Float64Array(j.length);
  const keys = new Int32Array(j.length);
  let count = 0;
  for (let n = 0; n < j.length; n++) {
    if (weights[n] === 0) continue;
    kept[count] = weights[n];
    keys[count++] = j[n];
  }
  return [kept.subarray(0, count), keys.subarray(0, count)];
}
