import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../../ir/tensor/shape.ts';
import { type NodeCall, type NodeResult, type OnnxOperator, result } from '../../node-call.ts';
import { once } from '../../once.ts';
import type { Value } from '../../value.ts';
import { attend, paddedMask, withHeads, withoutHeads } from './attention.ts';

/** Refuses inputs that would change the result: those from input `first` on, by name. */
export function refuseExtras(call: NodeCall, first: number, names: readonly string[]): void {
  for (const [n, name] of names.entries())
    if (call.has(first + n)) call.refuse(`has ${name}, which is not supported`);
}

/** The optional output with the scores of attention, which is refused. */
export const noScores = (call: NodeCall, { type }: Value, shape: readonly number[]): NodeResult =>
  result({ type, shape }, () => call.refuse('has its scores as an output, which is not supported'));

/** The slots of a call's tokens in the cache. */
interface Places {
  /** The number of slots in the cache after the call. */
  readonly slots: number;
  /** The number of tokens of each batch entry before the new ones. */
  readonly starts: readonly number[];
  /** The number of visible tokens of each entry, including the new ones; null if all slots are visible. */
  readonly lengths: readonly number[] | null;
}

/** The slots of the new tokens, from the lengths that the node takes. */
function placesOf(call: NodeCall, B: number, Sq: number, past: number): Places {
  // The number of tokens of each entry, cached and new. The input holds this number minus 1.
  const lengths = call.has(5) ? call.numbers(5).map(n => n + 1) : new Array<number>(B).fill(past + Sq);
  const total = (call.has(6) ? call.numbers(6)[0] : undefined) ?? lengths.reduce((a, b) => Math.max(a, b), 0);
  // A prompt starts with an empty cache, and is padded on the right.
  const isPrompt = past === 0 || Sq === total;
  const starts = lengths.map(length => (isPrompt ? 0 : length - Sq));
  const slots = Math.max(past, total);
  const wrong = lengths.find((length, b) => length > slots || starts[b] < 0 || starts[b] > past);
  if (lengths.length !== B || wrong !== undefined)
    call.fail(`has lengths [${lengths}] for ${B} entries of ${Sq} tokens after ${past}`);
  return { slots, starts, lengths: lengths.every(length => length === slots) ? null : lengths };
}

/** The cache with new keys or values (B, H, Sq, D) in the slots of each entry. */
function cached(
  { draft }: NodeCall,
  old: LogicalTensor | null,
  fresh: LogicalTensor,
  { slots, starts }: Places,
): LogicalTensor {
  const [, H, Sq, D] = shapeOf(fresh);
  const part = (tensor: LogicalTensor, from: number, to: number): LogicalTensor[] =>
    from < to ? [draft.slice(tensor, { axis: 2, start: from, size: to - from })] : [];
  const rows = (entry: LogicalTensor | null, own: LogicalTensor, start: number): LogicalTensor => {
    // Slots after the new tokens are cleared.
    const empty = slots - (start + Sq);
    const [entries] = shapeOf(own);
    const parts = [
      ...(entry ? part(entry, 0, start) : []),
      ...part(own, 0, Math.min(Sq, slots - start)),
      ...(empty > 0 ? [draft.inline([0], [entries, H, empty, D], own.dtype)] : []),
    ];
    return draft.concat(parts, 2);
  };
  const [first = 0] = starts;
  if (starts.every(start => start === first)) return rows(old, fresh, first);
  const entry = (tensor: LogicalTensor, b: number): LogicalTensor =>
    draft.slice(tensor, { axis: 0, start: b, size: 1 });
  const entries = starts.map((start, b) => rows(old && entry(old, b), entry(fresh, b), start));
  return draft.op('Concat', entries, { axis: 0 });
}

/** The sink of each head: an input, or 0 for a softmax with 1 more in its denominator. */
function sinkOf(call: NodeCall, heads: number): LogicalTensor | undefined {
  const given = call.optional(11);
  if (given) return call.draft.cast(given.tensor(), 'f32');
  // 1 means yes, and −1 that the model does not say.
  return call.int('smooth_softmax', 0) > 0 ? call.draft.inline([0], [heads], 'f32') : undefined;
}

/** com.microsoft's grouped attention with a cache. Unused slots of the cache are not visible. */
export const groupQueryAttention: OnnxOperator = call => {
  refuseExtras(call, 12, ['k_scale', 'v_scale', 'q_norm_weight', 'k_norm_weight']);
  if (call.flag('sliding_window_cache', false))
    call.refuse("has the attribute 'sliding_window_cache', which is not supported");
  if (!call.flag('causal', true)) call.refuse("has the attribute 'causal' = 0, which is not supported");
  const [heads, kvHeads] = [call.int('num_heads', 0), call.int('kv_num_heads', 0)];
  if (heads < 1 || kvHeads < 1 || heads % kvHeads !== 0)
    call.fail(`has ${heads} heads in groups of ${kvHeads}`);
  const q = call.input(0);
  const [B = 1, Sq = 1, width = 1] = q.shape;
  const isPacked = !call.has(1);
  const D = width / (isPacked ? heads + 2 * kvHeads : heads);
  const past = call.optional(3)?.shape[2] ?? 0;
  const window = call.int('local_window_size', -1);
  const places = placesOf(call, B, Sq, past);
  const { draft } = call;
  /** The heads of q, k or v, which is a separate input or a part of the first input. */
  const headsOf = (n: 0 | 1 | 2): LogicalTensor => {
    const count = n === 0 ? heads : kvHeads;
    if (!isPacked) return withHeads(call, call.input(n).tensor(), count);
    const start = D * (n === 0 ? 0 : heads + (n - 1) * kvHeads);
    return withHeads(call, draft.slice(q.tensor(), { axis: 2, start, size: D * count }), count);
  };
  const rotated = (tensor: LogicalTensor): LogicalTensor => {
    if (!call.flag('do_rotary', false)) return tensor;
    const value = places.starts.flatMap(start => Array.from({ length: Sq }, (_, n) => start + n));
    const at = call.optional(9)?.tensor() ?? draft.inline(value, [B, Sq], 'i32');
    const table = (n: number): LogicalTensor => {
      const rows = draft.op('Take', [call.input(n).tensor(), at], { axis: 0 });
      const [, , pairs = 1] = shapeOf(rows);
      return draft.reshape(rows, [B, 1, Sq, pairs]);
    };
    const interleaved = call.flag('rotary_interleaved', false);
    return draft.op('RotaryEmbedding', [tensor, table(7), table(8)], { interleaved });
  };
  const keys = once(() => cached(call, call.optional(3)?.tensor() ?? null, rotated(headsOf(1)), places));
  const values = once(() => cached(call, call.optional(4)?.tensor() ?? null, headsOf(2), places));
  const softcap = call.float('softcap', 0);
  const isFirst = places.starts.every(start => start === 0);
  const present = { type: q.type, shape: [B, kvHeads, places.slots, D] };
  const attended = result({ type: q.type, shape: [B, Sq, heads * D] }, () => {
    const { lengths, slots } = places;
    const bias = call.optional(10)?.tensor();
    const o = attend(call, {
      ...{ q: rotated(headsOf(0)), k: keys(), v: values() },
      scale: call.float('scale', 0) || 1 / Math.sqrt(D),
      softcap: softcap > 0 ? softcap : undefined,
      mask: bias && paddedMask(call, bias, slots),
      sink: sinkOf(call, heads),
      seqLensKv: lengths ? draft.inline(lengths, [B], 'i32') : undefined,
      left: window > 0 ? window - 1 : undefined,
      right: 0,
      align: isFirst ? 'top-left' : 'bottom-right',
    });
    return withoutHeads(call, o);
  });
  const scores = noScores(call, q, [B, heads, Sq, places.slots]);
  return [attended, result(present, keys), result(present, values), scores];
};
