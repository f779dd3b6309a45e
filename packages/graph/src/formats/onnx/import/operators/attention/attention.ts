import type { Attributes } from '../../../../../ir/schema/attribute.ts';
import { omitUndefined } from '../../../../../ir/schema/omit-undefined.ts';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../../ir/tensor/shape.ts';
import type { Draft } from '../../draft.ts';
import { boolType } from '../../file/element-type.ts';
import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import { once } from '../../once.ts';
import { repetitionOf } from '../../reshapes/repeated-heads.ts';
import { hostTensor, type Value } from '../../value.ts';

/** Splits (B, S, H·D) into heads (B, H, S, D). */
export function withHeads({ draft }: NodeCall, tensor: LogicalTensor, heads: number): LogicalTensor {
  const shape = shapeOf(tensor);
  if (shape.length === 4) return tensor;
  const [B = 1, S = 1, width = 1] = shape;
  return draft.transpose(draft.reshape(tensor, [B, S, heads, width / heads]), [0, 2, 1, 3]);
}

/** Merges heads (B, H, S, D) to (B, S, H·D). */
export function withoutHeads({ draft }: NodeCall, tensor: LogicalTensor): LogicalTensor {
  const [B = 1, H = 1, S = 1, D = 1] = shapeOf(tensor);
  return draft.reshape(draft.transpose(tensor, [0, 2, 1, 3]), [B, S, H * D]);
}

/** Appends keys or values (B, H, S, D) to those of the cache, an optional input of the node. */
function appendedToCache(call: NodeCall, fresh: LogicalTensor, cache: number): LogicalTensor {
  const old = call.optional(cache);
  return old ? call.draft.op('Concat', [old.tensor(), fresh], { axis: 2 }) : fresh;
}

/** The operands and attributes of an `Sdpa` operation. */
export interface AttentionRequest {
  readonly q: LogicalTensor;
  readonly k: LogicalTensor;
  readonly v: LogicalTensor;
  /** A bool mask says which keys are visible; a float mask is added to the scores. */
  readonly mask?: LogicalTensor | undefined;
  /** The number of keys in each batch entry. */
  readonly seqLensKv?: LogicalTensor | undefined;
  /** A logit (Hq) that takes part in each softmax but has no value. */
  readonly sink?: LogicalTensor | undefined;
  readonly scale: number;
  readonly softcap?: number | undefined;
  readonly left?: number | undefined;
  readonly right?: number | undefined;
  readonly align?: 'top-left' | 'bottom-right' | undefined;
}

/** Keys or values (B, H, S, D) without the repetition of each head for the query heads of its group. */
function withoutRepetition(draft: Draft, tensor: LogicalTensor): LogicalTensor {
  const { own, heads: [B, Hk] = [] } = repetitionOf(draft, tensor) ?? {};
  const [batch, , ...rows] = shapeOf(tensor);
  return own && batch === B ? draft.reshape(own, [B, Hk, ...rows]) : tensor;
}

/** Adds attention as one operation; returns o in q's dtype. */
export function attend({ draft }: NodeCall, request: AttentionRequest): LogicalTensor {
  const { q, k, v, mask, seqLensKv, sink, ...settings } = request;
  const heads = { q, k: withoutRepetition(draft, k), v: withoutRepetition(draft, v) };
  const operands: Record<string, LogicalTensor> = heads;
  if (mask) operands[mask.dtype === 'bool' ? 'mask' : 'bias'] = mask;
  if (seqLensKv) operands.seqLensKv = seqLensKv;
  if (sink) operands.sink = sink;
  const names = { operands: Object.keys(operands).join(' '), results: 'o' };
  return draft.op(
    'Sdpa',
    Object.values(operands),
    { ...names, ...(omitUndefined(settings) as Attributes) },
    q.dtype,
  );
}

/** Pads a mask that is shorter than the keys, which hides the other keys. */
export function paddedMask({ draft }: NodeCall, mask: LogicalTensor, keys: number): LogicalTensor {
  const shape = shapeOf(mask);
  const missing = keys - (shape.at(-1) ?? 0);
  if (missing <= 0) return mask;
  const value = mask.dtype === 'bool' ? 0 : -Infinity;
  const rest = draft.inline([value], [...shape.slice(0, -1), missing], mask.dtype);
  return draft.op('Concat', [mask, rest], { axis: shape.length - 1 });
}

interface Sizes {
  readonly B: number;
  readonly Hq: number;
  readonly Sq: number;
  readonly Skv: number;
  /** The number of cached keys before the new ones. */
  readonly past: number;
}

/**
 * Attention of operator sets 23 to 25. Softcap is applied before the mask, and a query that sees no key gives
 * 0, as in ONNX's own implementation of these versions.
 */
const attention: OnnxOperator = call => {
  const [q, k, v] = [call.input(0), call.input(1), call.input(2)];
  const isFlat = q.shape.length === 3;
  const heads = (name: string, { shape }: Value): number =>
    isFlat
      ? call.int(name, 0) || call.fail(`needs '${name}' for inputs of three dimensions`)
      : (shape[1] ?? 1);
  const [Hq, Hkv] = [heads('q_num_heads', q), heads('kv_num_heads', k)];
  const past = call.optional(4)?.shape[2] ?? 0;
  const sequence = ({ shape }: Value): number => shape.at(-2) ?? 0;
  const channels = ({ shape }: Value, H: number): number => (isFlat ? (shape[2] ?? 0) / H : (shape[3] ?? 0));
  const B = q.shape[0] ?? 1;
  const sizes: Sizes = { B, Hq, Sq: sequence(q), Skv: sequence(k) + past, past };
  const [Dqk, Dv] = [channels(q, Hq), channels(v, Hkv)];
  if (![Dqk, Dv].every(Number.isInteger) || Hq % Hkv !== 0)
    call.fail(`cannot divide [${q.shape}] and [${v.shape}] into ${Hq} and ${Hkv} heads`);
  const present = (own: Value, cache: number): (() => LogicalTensor) =>
    once(() => appendedToCache(call, withHeads(call, own.tensor(), Hkv), cache));
  const [presentK, presentV] = [present(k, 4), present(v, 5)];
  const request = once(() =>
    requestOf(call, sizes, withHeads(call, q.tensor(), Hq), presentK(), presentV(), Dqk),
  );
  const scores = [B, Hq, sizes.Sq, sizes.Skv];
  const shape = isFlat ? [B, sizes.Sq, Hq * Dv] : [B, Hq, sizes.Sq, Dv];
  const attended = result({ type: q.type, shape }, () => {
    const o = attend(call, request());
    return isFlat ? withoutHeads(call, o) : o;
  });
  return [
    attended,
    result({ type: k.type, shape: [B, Hkv, sizes.Skv, Dqk] }, presentK),
    result({ type: v.type, shape: [B, Hkv, sizes.Skv, Dv] }, presentV),
    result({ type: q.type, shape: scores }, () => scoreResult(call, request(), sizes)),
  ];
};

function requestOf(
  call: NodeCall,
  { Sq, Skv, past }: Sizes,
  q: LogicalTensor,
  k: LogicalTensor,
  v: LogicalTensor,
  Dqk: number,
): AttentionRequest {
  const lengths = call.optional(6);
  const isCausal = call.flag('is_causal', false);
  const [left, right] = [call.int('left_window_size', -1), call.int('right_window_size', -1)];
  if (left < -1 || right < -1) call.fail(`has a window of ${left} and ${right}: each must be at least −1`);
  const band: Band = {
    left: left >= 0 ? left : null,
    right: isCausal ? (right >= 0 ? Math.min(0, right) : 0) : right >= 0 ? right : null,
    // With lengths, the last key of each entry belongs to its last query.
    first: lengths ? Skv - Sq : past,
    last: Skv - Sq,
    onlyLast: lengths !== null,
  };
  const softcap = call.float('softcap', 0);
  const given = call.optional(3);
  const mask = given ? paddedMask(call, given.tensor(), Skv) : undefined;
  const window = windowOf(band);
  return {
    ...{ q, k, v },
    mask: window ? mask : maskOf(call, band, [Sq, Skv], mask),
    seqLensKv: lengths?.tensor(),
    scale: call.float('scale', 1 / Math.sqrt(Dqk)),
    softcap: softcap > 0 ? softcap : undefined,
    ...window,
  };
}

/**
 * The keys that each query sees: from `left` keys before to `right` keys after the diagonal key `first + i`
 * of query i. A side that is null has no end.
 */
interface Band {
  readonly left: number | null;
  readonly right: number | null;
  readonly first: number;
  /** The value of `first` for which the diagonal ends at the last query and the last key: Skv − Sq. */
  readonly last: number;
  /** Whether a window must be aligned to the last keys, because each entry has its own number of keys. */
  readonly onlyLast: boolean;
}

/**
 * Converts a band to a window that is aligned to the first keys, or to the last keys, where the diagonal key
 * is `last + i`. A window cannot have a negative side: null if the band is not a window.
 */
function windowOf(band: Band): Pick<AttentionRequest, 'left' | 'right' | 'align'> | null {
  const { left, right, first, last, onlyLast } = band;
  if (left === null && right === null) return {};
  for (const align of ['top-left', 'bottom-right'] as const) {
    if (onlyLast && align === 'top-left') continue;
    const shift = align === 'top-left' ? first : first - last;
    const [low, high] = [left === null ? 0 : left - shift, right === null ? 0 : right + shift];
    if (low < 0 || high < 0) continue;
    return { align, left: left === null ? undefined : low, right: right === null ? undefined : high };
  }
  return null;
}

/** A mask that also hides the keys outside a band. */
function maskOf(
  call: NodeCall,
  { left, right, first }: Band,
  scores: readonly number[],
  mask: LogicalTensor | undefined,
): LogicalTensor {
  const { draft } = call;
  const inBand = hostTensor(scores, ([i = 0, j = 0]) => {
    const after = j - i - first;
    return Number((left === null || -after <= left) && (right === null || after <= right));
  });
  const seen = call.constant(inBand, boolType);
  if (!mask) return seen;
  return mask.dtype === 'bool'
    ? draft.test('LogicalAnd', mask, seen)
    : draft.select(seen, mask, draft.scalar(-Infinity, mask.dtype));
}

/**
 * The scores in the form that the attribute `qk_matmul_output_mode` selects: before the mask, with the mask,
 * or as probabilities.
 */
function scoreResult(call: NodeCall, request: AttentionRequest, sizes: Sizes): LogicalTensor {
  const { draft } = call;
  const mode = call.int('qk_matmul_output_mode', 0);
  if (mode < 0 || mode > 3) call.fail(`has the qk_matmul_output_mode ${mode}, which must be 0 to 3`);
  const { B, Hq, Sq, Skv } = sizes;
  const { q, k, scale, softcap } = request;
  const [, Hkv = 1] = shapeOf(k);
  const wide = draft.cast(q, 'f32');
  // The query heads of a group are multiplied by the same keys.
  const grouped = draft.reshape(wide, [B, Hkv, (Hq / Hkv) * Sq, shapeOf(q)[3] ?? 1]);
  const product = draft.op('MatMul', [grouped, draft.cast(k, 'f32')], { transpose_b: true });
  const scaled = draft.op('Multiply', [draft.reshape(product, [B, Hq, Sq, Skv]), draft.scalar(scale, 'f32')]);
  const capped = softcap
    ? draft.op('Multiply', [
        draft.op('Tanh', [draft.op('Divide', [scaled, draft.scalar(softcap, 'f32')])]),
        draft.scalar(softcap, 'f32'),
      ])
    : scaled;
  const dtype = q.dtype;
  if (mode < 2) return draft.cast(capped, dtype);
  const added = masked(call, request, sizes, capped);
  if (mode === 2) return draft.cast(added, dtype);
  return draft.cast(draft.op('SoftMax', [added], { axis: 3, mode: 'inf_as_zero' }), dtype);
}

/** The scores with the bias added, and −∞ where a query may not see a key. */
function masked(
  call: NodeCall,
  request: AttentionRequest,
  { B, Sq, Skv }: Sizes,
  scores: LogicalTensor,
): LogicalTensor {
  const { draft } = call;
  const { mask, left, right, align, seqLensKv } = request;
  const hide = (tensor: LogicalTensor, seen: LogicalTensor): LogicalTensor =>
    draft.select(seen, tensor, draft.scalar(-Infinity, 'f32'));
  const first =
    mask?.dtype === 'bool'
      ? hide(scores, mask)
      : mask
        ? draft.op('Add', [scores, draft.cast(mask, 'f32')])
        : scores;
  const lengths = seqLensKv ? call.numbers(6) : new Array<number>(B).fill(Skv);
  if (align === undefined && !seqLensKv) return first;
  const { values } = hostTensor([B, 1, Sq, Skv], ([b = 0, , i = 0, j = 0]) => {
    const length = lengths[b] ?? Skv;
    const offset = align === 'bottom-right' ? length - Sq : 0;
    const inBand =
      (left === undefined || i + offset - j <= left) && (right === undefined || j - i - offset <= right);
    return Number(j < length && (align === undefined || inBand));
  });
  const seen = Array.from(values);
  return hide(first, draft.inline(seen, [B, 1, Sq, Skv], 'bool'));
}

/** Attention as one operator. */
export const attentionOperators: Readonly<Record<string, OnnxOperator>> = { Attention: attention };
