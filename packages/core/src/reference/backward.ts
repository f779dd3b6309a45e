import { normaliseBackwardOnHost } from '../attention/call/normalise-on-host.ts';
import { hostOperand } from '../attention/host/addressing.ts';
import { dequantised } from '../attention/host/dequantise.ts';
import { rowIndex } from '../attention/host/result-index.ts';
import { createLengths } from '../attention/host/sequences.ts';
import { createVisibility } from '../attention/host/visibility.ts';
import type { SdpaBackwardOptions } from '../attention/options/options.ts';
import type { BackwardAmaxName, BackwardOperands, BackwardProblem } from '../attention/problem/problem.ts';
import { createFp8 } from '../score/fp8.ts';
import { createScoreChain } from '../score/score-chain.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { type Float64Tensor, filled, raiseAmax, zeros } from './float64-tensor.ts';
import {
  asTensors,
  type BackwardInputsFloat64,
  type ForwardResults,
  forwardResults,
} from './forward-results.ts';
import {
  addHead,
  addScoreGradients,
  type BackwardFloat64,
  requested,
  rescale,
  zeroGradients,
} from './gradients.ts';
import { blockProducts, type ProductRows } from './head/block-products.ts';
import { heads } from './head/head.ts';
import { headReader } from './head/read.ts';
import { exponentials, magnitude, rounded, rowOf, times } from './head/row.ts';
import { addOuter, addWeighted, dots } from './head/row-products.ts';

/**
 * Gradients of L with dO = ∂L/∂o and dLse = ∂L/∂lse (default 0), in float64 and unrounded. With x, s and z of
 * `sdpaFloat64` and the **given** o and lse, for every visible pair:
 *
 *     δ_i   = Σ_d dO_id o_id − dLse_i            p_ij = e^(s_ij − lse_i)
 *     dv_j += z_ij p_ij dO_i                     dp_ij = z_ij dO_i·v_j
 *     ds_ij = p_ij (dp_ij − δ_i)                 dx_ij = ds_ij · ∂s_ij/∂x_ij
 *     dq_i += scale dx_ij k_j                    dk_j += scale dx_ij q_i
 *     dbias += ds_ij     dAlibi_h −= |i + off − j| ds_ij     dsink_h −= e^(sink_h − lse_i) δ_i
 *
 * With the FP8 contract each operand stands for its stored value times its descale, z_ij p_ij in dv for
 * descaleS · cast(scaleS · z_ij p_ij), scale dx_ij for descaleDP · cast(scaleDP · scale dx_ij), and dq, dk
 * and dv are multiplied by their scales (see `Fp8Options`).
 *
 * (FlashAttention, Dao et al. 2022, appendix B.2; dLse as in FlexAttention.) Nothing is normalised again:
 * with the o and lse of a softmax over more keys than these, the results are these keys' part of its
 * gradients. dk and dv are summed over the query heads of a group, dbias over the dimensions along which the
 * bias is broadcast. A row with lse = −∞ or beyond its sequence contributes nothing.
 *
 * @throws as `normaliseBackward`; InvalidArgumentError naming a tensor that is not on the host.
 */
export function sdpaBackwardFloat64(
  inputs: BackwardInputsFloat64,
  options: SdpaBackwardOptions<Tensor> = {},
): BackwardFloat64 {
  const { problem, operands } = normaliseBackwardOnHost(asTensors(inputs), options);
  return backward(problem, operands, forwardResults(inputs, problem, operands));
}

/** The gradients of a problem over host operands, unrounded; see `sdpaBackwardFloat64`. */
export function backward(
  backwardProblem: BackwardProblem,
  givenOperands: BackwardOperands<Tensor>,
  given: ForwardResults,
): BackwardFloat64 {
  const { problem, operands } = dequantised(backwardProblem.forward, givenOperands);
  const { Dqk, Dv, scale } = problem;
  const lengths = createLengths(problem, operands);
  const chain = createScoreChain(problem, operands, createVisibility(problem, operands));
  const dORows = headReader(hostOperand('dO', backwardProblem.dO, operands, lengths.q));
  const row = rowIndex(problem, lengths.q);
  const dLse = operands.dLse?.toFloat64();
  const sinks = operands.sink?.toFloat64();
  const fp8 = createFp8(problem, operands, 'backward');
  const blocks = blockProducts(problem, operands, lengths);
  const amaxDP = filled([1], 0);
  const gradients = zeroGradients(backwardProblem, operands, chain);
  const { dq, dk, dv, dsink } = gradients;

  for (const head of heads(problem, operands)) {
    const { b, h, hk, hv, v, lengthQ, lengthKv } = head;
    const o = given.o(b, h);
    const dO = dORows(b, h);
    const products = blocks?.rows(head) ?? { q: head.q, k: head.k, dO8: dO, dOT: dO };
    const { dO8, dOT } = products;
    const dS = blocks && zeros(lengthQ * lengthKv);
    const sums: HeadSums = {
      dq: zeros(lengthQ * Dqk),
      dk: zeros(lengthKv * Dqk),
      dv: zeros(lengthKv * Dv),
    };
    for (let i = 0; i < lengthQ; i++) {
      const lse = given.lse[row(b, h, i)];
      if (lse === -Infinity) continue;
      const rowSum = fp8.descaleDO * fp8.descaleO * rowDot(dO, o, i, Dv);
      const delta = rowSum - (dLse ? dLse[row(b, h, i)] : 0);
      if (sinks && dsink) dsink.values[h] -= Math.exp(sinks[h] - lse) * delta;

      const { j, x, s } = head.visibleKeys(i);
      const dOV = dots(rowOf(dO8, i, Dv), v, j);
      const p = exponentials(s, lse);
      const z = head.dropout(i, j);
      const ds = scoreGradients(p, z, dOV, fp8.descaleDO * fp8.descaleV, delta);
      const dx = ds.map((dsn, n) => dsn * (scale * chain.derivative(x[n], b, h, i, j[n])));
      raiseAmax(amaxDP, magnitude(dx));

      addOuter(sums.dv, rounded(times(z, p), fp8.round, fp8.scaleS), j, rowOf(dOT, i, Dv));
      if (dS) for (let n = 0; n < j.length; n++) dS[i * lengthKv + j[n]] = dx[n];
      else {
        const dx8 = rounded(dx, fp8.round, fp8.scaleDP);
        addProducts(sums, products, Dqk, i, j, dx8, dx8);
      }
      addScoreGradients(gradients, chain, head, i, j, x, ds);
    }
    if (blocks && dS) {
      const { alongKeys, alongQueries } = blocks.round(dS, head);
      const all = Int32Array.from({ length: lengthKv }, (_, j) => j);
      for (let i = 0; i < lengthQ; i++) {
        const [forQ, forK] = [alongKeys, alongQueries].map(rounding => rowOf(rounding, i, lengthKv));
        addProducts(sums, products, Dqk, i, all, forQ, forK);
      }
    }
    addHead(dq, b, h, sums.dq, Dqk);
    if (dk) addHead(dk, b, hk, sums.dk, Dqk);
    if (dv) addHead(dv, b, hv, sums.dv, Dv);
  }

  const amaxes: Readonly<Record<BackwardAmaxName, Float64Tensor>> = {
    amaxDQ: rescale(dq, fp8.descaleDP * fp8.descaleK, fp8.scaleDQ),
    amaxDK: rescale(dk, fp8.descaleDP * fp8.descaleQ, fp8.scaleDK),
    amaxDV: rescale(dv, fp8.descaleS * fp8.descaleDO, fp8.scaleDV),
    amaxDP,
  };
  return requested(backwardProblem, gradients, amaxes);
}

/** The gradients of the rows of one head of q, k and v. */
type HeadSums = Readonly<Record<'dq' | 'dk' | 'dv', Float64Array>>;

/**
 * Adds row i of dS, at keys j, times k to dq_i, and times q_i to dk. Each may have its own rounding of dS.
 */
function addProducts(
  { dq, dk }: HeadSums,
  { q, k }: Pick<ProductRows, 'q' | 'k'>,
  D: number,
  i: number,
  j: Int32Array,
  forQ: Float64Array,
  forK: Float64Array,
): void {
  addWeighted(rowOf(dq, i, D), forQ, j, k);
  addOuter(dk, forK, j, rowOf(q, i, D));
}

/**
 * ds_n = p_n (dp_n − δ) with dp_n = z_n · descale · dO·v_n; if z_n is 0, dO·v_n may be anything, even NaN.
 */
function scoreGradients(
  p: Float64Array,
  z: Float64Array,
  dOV: Float64Array,
  descale: number,
  delta: number,
): Float64Array {
  return p.map((pn, n) => pn * ((z[n] === 0 ? 0 : z[n] * descale * dOV[n]) - delta));
}

/** Row i of X times row i of Y, both row-major with D columns. */
function rowDot(X: Float64Array, Y: Float64Array, i: number, D: number): number {
  let sum = 0;
  for (let at = i * D; at < (i + 1) * D; at++) sum += X[at] * Y[at];
  return sum;
}
