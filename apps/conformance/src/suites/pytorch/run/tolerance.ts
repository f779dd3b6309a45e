import type { DType } from '@tilewise/core';
import type { TensorError } from '../../attention/worst-error.ts';
import type { Tolerances } from '../case-file.ts';

/**
 * Rules whose yardstick is eager attention in f32 with rounded results; the yardstick of the other rules
 * computes in the dtype throughout.
 */
const inF32: RegExp = /^(checkOutAndGrad|assert|torch defaults)/;

/** Whether the yardstick of a rule is attention that rounds to the inputs' dtype at every step. */
export function roundsAtEveryStep({ rule }: Tolerances): boolean {
  return !inF32.test(rule);
}

/** A result, its exact value, and the result of an unfused implementation in the same dtype. */
export interface Comparison {
  readonly result: string;
  readonly actual: Float64Array;
  readonly golden: Float64Array;
  readonly eager: Float64Array;
  /**
   * The gradients that an exact backward pass computes from an o that was stored in its dtype, as every fused
   * pass reads it.
   */
  readonly fromStoredO?: Float64Array;
}

type Rule = (c: Comparison, tol: Tolerances, dtype: DType, leniency: number) => number;

const outputs: readonly string[] = ['o', 'lse'];
const fudgeNames: Readonly<Record<string, string>> = { o: 'out', lse: 'out' };

/**
 * The defaults of torch.testing, [absolute, relative]; attention's own tests raise the absolute ones for half
 * precision.
 */
const torchDefaults: Readonly<Partial<Record<DType, readonly [number, number]>>> = {
  f32: [1e-5, 1.3e-6],
  f16: [1e-3, 1e-3],
  bf16: [1e-3, 1.6e-2],
};

/**
 * The factor on the unavoidable error that is allowed if it exceeds a rule's tolerance: gradients cancel, so
 * that the rounding of a stored o can change them by more than any factor of the error of an eager result,
 * which never stores o.
 */
const margin = 1.1;

function unavoidable(c: Comparison, size: (a: Float64Array, b: Float64Array) => number): number {
  return c.fromStoredO ? size(c.fromStoredO, c.golden) : 0;
}

/**
 * The error of a result as a share of the tolerance of each rule: 1 is all of it. The texts of the rules are
 * in the file of cases (`toleranceRules`).
 */
const rules: readonly { readonly name: RegExp; readonly share: Rule }[] = [
  {
    name: /^checkOutAndGrad$/,
    share: (c, { fudge }, _, leniency) =>
      most(c.actual, c.golden) /
      Math.max(
        1e-5,
        leniency * (fudge[fudgeNames[c.result] ?? c.result] ?? 5) * most(c.eager, c.golden),
        margin * unavoidable(c, most),
      ),
  },
  {
    name: /^flexCheck$/,
    // Sums of some tens of products of order 1 are uncertain by 1e-6 in f32, even if they should cancel.
    share: (c, _, dtype) =>
      mean(c.actual, c.golden) /
      Math.max(1e-6, (dtype === 'f32' ? 10 : 1.1) * mean(c.eager, c.golden), margin * unavoidable(c, mean)),
  },
  {
    name: /^flexLearnableBias$/,
    share: (c, _, dtype) =>
      rms(c.actual, c.golden) /
      Math.max(
        1e-6,
        (dtype === 'f32' ? 13.5 : 1.35) ** 2 * rms(c.eager, c.golden),
        margin * unavoidable(c, rms),
      ),
  },
  {
    name: /^flashAttn2$/,
    share: c => {
      const factor = outputs.includes(c.result) ? 2 : 3;
      return (
        most(c.actual, c.golden) /
        Math.max(1e-5, factor * most(c.eager, c.golden), margin * unavoidable(c, most))
      );
    },
  },
  {
    // This omits the rule's absolute part, two roundings of 0.3 + x, which is no more than another error of
    // the eager result.
    name: /^flashAttn3_4_and_torch_varlen$/,
    share: c =>
      most(c.actual, c.golden) / Math.max(1e-5, 2 * most(c.eager, c.golden), margin * unavoidable(c, most)),
  },
  {
    name: /^assert(Equal|_close|Equal default|Equal\(atol,rtol\))$|^torch defaults$/,
    share: (c, { pairs }, dtype) => {
      const ofResult = outputs.includes(c.result) ? pairs.out : pairs.grads;
      const [absolute, relative] = ofResult ?? pairs.all ?? pairs[dtype] ?? torchDefaults[dtype] ?? [0, 0];
      // These rules compare with an eager result, which has its own error.
      const eager = most(c.eager, c.golden);
      let worst = 0;
      for (let i = 0; i < c.golden.length; i++) {
        const off = Math.abs(c.actual[i] - c.golden[i]);
        if (off > 0) worst = Math.max(worst, off / (absolute + relative * Math.abs(c.golden[i]) + eager));
      }
      return worst;
    },
  },
];

/**
 * The error of a result by its group's rule. Infinities must match exactly, and NaN is an infinite error.
 * @throws Error for an unknown rule.
 */
export function judge(c: Comparison, tol: Tolerances, dtype: DType, leniency: number): TensorError {
  const rule = rules.find(({ name }) => name.test(tol.rule));
  if (!rule) throw new Error(`the rule of tolerance '${tol.rule}' is not known to the runner`);
  const bad = c.golden.findIndex((want, i) => c.actual[i] !== want && !Number.isFinite(c.actual[i] - want));
  if (bad >= 0) {
    const text = `holds ${c.actual[bad]} at element ${bad}, where ${c.golden[bad]} is expected`;
    return { tensor: c.result, ratio: Infinity, text };
  }
  const ratio = rule.share(c, tol, dtype, leniency);
  const off = most(c.actual, c.golden).toExponential(2);
  return {
    tensor: c.result,
    ratio,
    text: `is off by ${off}, ${ratio.toFixed(2)} of what ${tol.rule} allows`,
  };
}

const finite = (x: number): number => (Number.isFinite(x) ? Math.abs(x) : 0);

function most(a: Float64Array, b: Float64Array): number {
  return a.reduce((worst, x, i) => Math.max(worst, finite(x - b[i])), 0);
}

function mean(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, x, i) => sum + finite(x - b[i]), 0) / Math.max(1, a.length);
}

function rms(a: Float64Array, b: Float64Array): number {
  return Math.sqrt(a.reduce((sum, x, i) => sum + finite(x - b[i]) ** 2, 0) / Math.max(1, a.length));
}
