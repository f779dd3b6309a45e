import { normalise, type SdpaOptions, Tensor } from '@tilewise/core';
import { createProblemDropout, createVisibility } from '@tilewise/core/engine';
import { sdpaBackwardFloat64, sdpaFloat64 } from '@tilewise/core/reference';
import type { Call } from './call.ts';

/** What a call must give, by the name of the result: float64, unrounded, row-major (B, H, S, D) or (B, Hq, Sq). */
export interface Expected {
  readonly forward: Readonly<Record<string, Float64Array>>;
  readonly backward: Readonly<Record<string, Float64Array>>;
  /** Whether nobody sees key j of sequence b by lengths and band: then its gradients are exactly 0. */
  isUnseen(b: number, j: number): boolean;
}

/** Attention and its gradients by their definition. */
export function expectedResults(call: Call): Expected {
  const { concrete, exact, gradients } = call;
  const { q, k, v, dO } = exact;
  const options = { ...exact.options, ...drawnMask(call) };
  const { o, lse, max, sumExp, dropoutMask } = sdpaFloat64(q, k, v, options);
  const forward: Record<string, Float64Array> = { o: o.values, lse: lse.values };
  if (options.outputs?.max) forward.max = max.values;
  if (options.outputs?.sumExp) forward.sumExp = sumExp.values;
  if (dropoutMask) forward.dropoutMask = dropoutMask.toFloat64();

  const backward: Record<string, Float64Array> = {};
  if (concrete.backward) {
    const results = sdpaBackwardFloat64({ q, k, v, o, lse, dO }, { ...options, gradients });
    for (const name of gradients) {
      const gradient = results[name];
      if (gradient) backward[name] = gradient.values;
    }
  }
  const { problem, operands } = normalise({ q, k, v }, options);
  const { queryRange } = createVisibility(problem, operands);
  return {
    forward,
    backward,
    isUnseen: (b, j) => {
      const [from, to] = queryRange(b, j);
      return from === to;
    },
  };
}

/**
 * The mask that a drawn dropout means for the layout of the case, as a given one: what is drawn for a packed sequence depends on
 * its length, so that the same sequence lying dense gets another mask.
 */
function drawnMask({ concrete, laidOut }: Call): Pick<SdpaOptions<Tensor>, 'dropout'> {
  const { q, k, v, options } = laidOut;
  if (!concrete.layouts.q.packed || !options.dropout || !('seed' in options.dropout)) return {};
  const { B, Hq, Sq, Skv } = concrete.dims;
  const { problem, operands } = normalise({ q, k, v }, options);
  const { keepRow } = createProblemDropout(problem, operands);
  const data = new Uint8Array(B * Hq * Sq * Skv);
  for (let b = 0; b < B; b++) {
    const rows = concrete.lengths.q?.[b] ?? Sq;
    const keys = concrete.lengths.kv?.[b] ?? Skv;
    for (let h = 0; h < Hq; h++) {
      for (let i = 0; i < rows; i++) keepRow(b, h, i, 0, keys, data, ((b * Hq + h) * Sq + i) * Skv);
    }
  }
  const mask = Tensor.wrap(data, { dtype: 'bool', shape: [B, Hq, Sq, Skv] });
  return { dropout: { mask, scale: 1 / (1 - options.dropout.p) } };
}
