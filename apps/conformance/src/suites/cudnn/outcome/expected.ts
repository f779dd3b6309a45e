import { normalise, type SdpaOptions, Tensor } from '@tilewise/core';
import { createProblemDropout, createVisibility } from '@tilewise/core/host';
import { type ForwardFloat64, sdpaBackwardFloat64, sdpaFloat64 } from '@tilewise/core/reference';
import type { Call } from '../tensors/call.ts';
import { type Fp8Numbers, fp8Scale } from '../tensors/fp8.ts';
import { backwardOptions } from '../tensors/options.ts';

/** The expected results of a call, by name: float64, unrounded, row-major (B, H, S, D) or (B, Hq, Sq). */
export interface Expected {
  readonly forward: Readonly<Record<string, Float64Array>>;
  readonly backward: Readonly<Record<string, Float64Array>>;
  /**
   * All scalars of a call under the FP8 contract, including those of its results. The expected values do not
   * include these scales.
   */
  readonly fp8: Fp8Numbers | null;
  /** Whether lengths and band let no query see key j of sequence b; its gradients are then exactly 0. */
  isUnseen(b: number, j: number): boolean;
}

/** Attention and its gradients by definition. */
export function expectedResults(call: Call): Expected {
  const { concrete, exact } = call;
  const { q, k, v } = exact;
  const options = { ...exact.options, ...drawnMask(call) };
  const results = sdpaFloat64(q, k, v, options);
  const { dropoutMask, ...values } = results;
  const forward: Record<string, Float64Array> = {};
  for (const [name, { values: exactly }] of Object.entries(values)) {
    const asked = name === 'o' || name === 'lse' || options.outputs?.[name as 'max'];
    if (asked) forward[name] = exactly;
  }
  if (dropoutMask) forward.dropoutMask = dropoutMask.toFloat64();

  const scales = call.fp8 ? outputScales(call, forward) : {};
  const backward = concrete.backward ? gradients(call, options, results, scales) : { results: {}, fp8: {} };
  const { problem, operands } = normalise({ q, k, v }, options);
  const { queryRange } = createVisibility(problem, operands);
  return {
    forward,
    backward: backward.results,
    fp8: call.fp8 && { ...call.fp8, ...scales, ...backward.fp8 },
    isUnseen: (b, j) => {
      const [from, to] = queryRange(b, j);
      return from === to;
    },
  };
}

interface Gradients {
  readonly results: Readonly<Record<string, Float64Array>>;
  readonly fp8: Fp8Numbers;
}

/**
 * The gradients, computed from the stored o, which is an input of the backward pass like the others. The FP8
 * contract rounds dS with a scale for its own largest value, so that value is measured first.
 */
function gradients(
  call: Call,
  options: SdpaOptions<Tensor>,
  { o, lse }: ForwardFloat64,
  { scaleO = 1, descaleO = 1 }: Fp8Numbers,
): Gradients {
  const { concrete, exact } = call;
  const { q, k, v, dO } = exact;
  const fp8 = call.fp8 && { ...call.fp8, descaleO };
  const asked = { ...options, ...(fp8 && { fp8 }), ...backwardOptions(concrete) };
  const stored = o.values.map(x => x * scaleO);
  const inputs = { q, k, v, o: Tensor.from(stored, o.shape, { dtype: concrete.outDType }), lse, dO };
  const run = (more: SdpaOptions<Tensor> = {}): Record<string, Float64Array> => {
    const { dCaptures: _, ...results } = sdpaBackwardFloat64(inputs, { ...asked, ...more });
    return Object.fromEntries(Object.entries(results).map(([name, { values }]) => [name, values]));
  };
  if (!fp8) return { results: run(), fp8: {} };
  const [amaxDP] = run().amaxDP;
  const scaleDP = fp8Scale(concrete.dtype, amaxDP);
  const rounded = { scaleDP, descaleDP: 1 / scaleDP };
  const results = run({ fp8: { ...fp8, ...rounded } });
  const { outDType } = concrete;
  return {
    results,
    fp8: {
      ...rounded,
      scaleDQ: fp8Scale(outDType, results.amaxDQ[0]),
      scaleDK: fp8Scale(outDType, results.amaxDK[0]),
      scaleDV: fp8Scale(outDType, results.amaxDV[0]),
    },
  };
}

function outputScales({ concrete }: Call, forward: Readonly<Record<string, Float64Array>>): Fp8Numbers {
  const scaleO = concrete.flags.scale_o ?? fp8Scale(concrete.outDType, forward.amaxO[0]);
  return { scaleO, descaleO: 1 / scaleO };
}

/**
 * The mask that a drawn dropout stands for in the layout of the case, as a given mask. For a packed sequence
 * the mask depends on the sequence's length, so the same sequence in a dense layout would get a different
 * mask.
 */
function drawnMask({ concrete, laidOut }: Call): Pick<SdpaOptions<Tensor>, 'dropout'> {
  const { q, k, v, options } = laidOut;
  const { layouts, lengths, dims } = concrete;
  const isPacked = layouts.q.packed || layouts.k.packed;
  if (!isPacked || !options.dropout || !('seed' in options.dropout)) return {};
  const { B, Hq, Sq, Skv } = dims;
  const { problem, operands } = normalise({ q, k, v }, options);
  const { keepRow } = createProblemDropout(problem, operands);
  const data = new Uint8Array(B * Hq * Sq * Skv);
  for (let b = 0; b < B; b++) {
    // Beyond the lengths, only tensors that are not packed have rows and keys to draw for.
    const rows = layouts.q.packed ? (lengths.q?.[b] ?? Sq) : Sq;
    const keys = layouts.k.packed ? (lengths.kv?.[b] ?? Skv) : Skv;
    for (let h = 0; h < Hq; h++) {
      for (let i = 0; i < rows; i++) keepRow(b, h, i, 0, keys, data, ((b * Hq + h) * Sq + i) * Skv);
    }
  }
  const mask = Tensor.wrap(data, { dtype: 'bool', shape: [B, Hq, Sq, Skv] });
  return { dropout: { mask, scale: 1 / (1 - options.dropout.p) } };
}
