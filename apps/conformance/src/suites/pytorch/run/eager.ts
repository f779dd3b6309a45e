import {
  contiguousStrides,
  type DType,
  dtypeInfo,
  elementCount,
  type GradientName,
  normaliseBackward,
  type SdpaOptions,
  type Tensor,
} from '@tilewise/core';
import { createProblemDropout, createScoreChain, createVisibility } from '@tilewise/core/host';

/** q, k, v and dO, contiguous (B, H, S, D). */
export interface EagerInputs {
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly o: Tensor;
  readonly lse: Tensor;
  readonly dO: Tensor;
}

/** Results of attention by whole matrices, row-major. */
export type EagerResults = Readonly<Record<string, Float64Array>>;

const f = Math.fround;

/** The passes that the eager yardstick computes, and the dtypes that it rounds to. */
export interface EagerSettings {
  /** Whether gradients are computed too. */
  readonly backward: boolean;
  /** The dtype to which inputs and outputs of matrix products are rounded. */
  readonly products: DType;
  readonly results: DType;
}

/**
 * Attention as a framework computes it without fused kernels, one matrix after the other: each product, sum
 * and exponential is rounded to f32, and scores, probabilities and their gradients are rounded to `products`
 * before and after each matrix product. Its error against float64 is the yardstick of PyTorch's rules.
 * Returns o, lse and, from a softmax of its own, the gradients of q, k, v, the bias and captured tensors.
 */
export function eager(
  inputs: EagerInputs,
  options: SdpaOptions<Tensor>,
  { backward, products, results }: EagerSettings,
): EagerResults {
  const raw = matrices(inputs, options, backward, rounder(products));
  const last = rounder(results);
  return Object.fromEntries(
    Object.entries(raw).map(([name, values]) => [name, name === 'lse' ? values : values.map(last)]),
  );
}

function rounder(dtype: DType): (x: number) => number {
  const { encode, decode } = dtypeInfo[dtype];
  return dtype === 'f32' ? Math.fround : x => (Number.isFinite(x) ? decode(encode(x)) : x);
}

function matrices(
  inputs: EagerInputs,
  options: SdpaOptions<Tensor>,
  backward: boolean,
  r: (x: number) => number,
): EagerResults {
  const gradients: GradientName[] = ['dq', 'dk', 'dv'];
  const { problem, operands } = normaliseBackward(inputs, { ...options, gradients });
  const { forward: p } = problem;
  const visibility = createVisibility(p, operands);
  const chain = createScoreChain(p, operands, visibility);
  const dropout = createProblemDropout(p, operands);
  const { B, Hq, Hk, Hv, Sq, Skv, Dqk, Dv, scale } = p;
  const [q, k, v, dO] = [inputs.q, inputs.k, inputs.v, inputs.dO].map(t => t.toFloat32());
  const results = {
    o: new Float64Array(B * Hq * Sq * Dv),
    lse: new Float64Array(B * Hq * Sq).fill(-Infinity),
    dq: new Float64Array(q.length),
    dk: new Float64Array(k.length),
    dv: new Float64Array(v.length),
  };
  const captured = Object.fromEntries(
    chain.differentiableCaptures.map(name => {
      const count = elementCount(p.captures[name].shape);
      return [`dCaptures.${name}`, new Float64Array(count)];
    }),
  );
  const bias = p.bias && { desc: p.bias, sums: new Float64Array(B * Hq * Sq * Skv) };

  for (let b = 0; b < B; b++) {
    for (let h = 0; h < Hq; h++) {
      const [rowsQ, rowsK, rowsV] = [
        (b * Hq + h) * Sq,
        (b * Hk + Math.floor((h * Hk) / Hq)) * Skv,
        (b * Hv + Math.floor((h * Hv) / Hq)) * Skv,
      ];
      for (let i = 0; i < Sq; i++) {
        const row = rowsQ + i;
        const x = new Float32Array(Skv);
        const s = new Float32Array(Skv).fill(-Infinity);
        for (let j = 0; j < Skv; j++) {
          if (!visibility.isVisible(b, h, i, j)) continue;
          x[j] = f(r(dot(q, row * Dqk, k, (rowsK + j) * Dqk, Dqk)) * f(scale));
          s[j] = chain.final(x[j], b, h, i, j);
        }
        const m = s.reduce((most, value) => Math.max(most, value), -Infinity);
        if (m === -Infinity) continue;
        const e = s.map(value => Math.exp(f(value - m)));
        const l = e.reduce((sum, value) => f(sum + value), 0);
        results.lse[row] = f(m + f(Math.log(l)));
        const P = e.map(value => value / l);
        const kept = P.map((value, j) => r(value * f(dropout.factor(b, h, i, j))));
        for (let d = 0; d < Dv; d++) {
          let sum = 0;
          for (let j = 0; j < Skv; j++) sum = f(sum + f(kept[j] * v[(rowsV + j) * Dv + d]));
          results.o[row * Dv + d] = sum;
        }
        if (!backward) continue;
        const dP = P.map(
          (_, j) => r(dot(dO, row * Dv, v, (rowsV + j) * Dv, Dv)) * f(dropout.factor(b, h, i, j)),
        );
        const delta = P.reduce((sum, value, j) => f(sum + f(value * dP[j])), 0);
        for (let j = 0; j < Skv; j++) {
          if (P[j] === 0) continue;
          const dS = f(P[j] * f(dP[j] - delta));
          if (bias) bias.sums[row * Skv + j] = dS;
          for (const { name, index, value } of chain.captureDerivatives(x[j], b, h, i, j)) {
            const sums = captured[`dCaptures.${name}`];
            sums[index] = f(sums[index] + f(dS * f(value)));
          }
          const dX = r(f(dS * f(chain.derivative(x[j], b, h, i, j))) * f(scale));
          addScaled(results.dq, row * Dqk, dX, k, (rowsK + j) * Dqk, Dqk);
          addScaled(results.dk, (rowsK + j) * Dqk, dX, q, row * Dqk, Dqk);
          addScaled(results.dv, (rowsV + j) * Dv, kept[j], dO, row * Dv, Dv);
        }
      }
    }
  }
  if (!backward) return { o: results.o, lse: results.lse };
  return {
    ...results,
    ...captured,
    ...(bias && { dbias: reduceTo(bias.desc.source, [B, Hq, Sq, Skv], bias.sums) }),
  };
}

function dot(a: Float32Array, at: number, b: Float32Array, bt: number, D: number): number {
  let sum = 0;
  for (let d = 0; d < D; d++) sum = f(sum + f(a[at + d] * b[bt + d]));
  return sum;
}

function addScaled(
  y: Float64Array,
  at: number,
  factor: number,
  x: Float32Array,
  xt: number,
  D: number,
): void {
  for (let d = 0; d < D; d++) y[at + d] = f(y[at + d] + f(factor * x[xt + d]));
}

/** Sums over the dimensions along which `source` is broadcast to `shape`. */
function reduceTo(source: readonly number[], shape: readonly number[], values: Float64Array): Float64Array {
  const own = [...new Array<number>(4 - source.length).fill(1), ...source];
  const strides = contiguousStrides(own);
  const sums = new Float64Array(elementCount(own));
  const index = [0, 0, 0, 0];
  for (const value of values) {
    const at = index.reduce((sum, n, d) => sum + (own[d] === 1 ? 0 : n * strides[d]), 0);
    sums[at] = f(sums[at] + value);
    for (let d = 3; d >= 0 && ++index[d] === shape[d]; d--) index[d] = 0;
  }
  return sums;
}
