import { elementCount, sameShape } from '@tilewise/core';
import type { Attributes } from '../../../../ir/schema/attribute.ts';
import type { LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../ir/tensor/shape.ts';
import { beforeReshape, isElementwise, type RewrittenOperation, type Writer } from './writer.ts';

/** Keys or values whose heads are repeated for the query heads of a group. */
interface Repetition {
  /** The keys or values (B, Hk, 1, X, Y). */
  readonly own: LogicalTensor;
  /** B, Hk, and G, the number of query heads that share a key head. */
  readonly heads: readonly number[];
}

/**
 * How the heads of a tensor are repeated, if they are. Exporters write a repetition as Expand to (B, Hk, G,
 * X, Y) and a reshape that merges the heads.
 */
export function repetitionOf(draft: Writer, tensor: LogicalTensor): Repetition | undefined {
  const wide = beforeReshape(draft, tensor);
  const { kind = '', inputs: [own] = [] } = (wide && draft.producerOf(wide)) ?? {};
  if (!wide || !own || kind !== 'Expand') return undefined;
  const [B, Hk, G, ...rows] = shapeOf(wide);
  const isRepeated = rows.length === 2 && G > 1 && sameShape(shapeOf(own), [B, Hk, 1, ...rows]);
  return isRepeated && sameShape(rowsOf(tensor), rows) ? { own, heads: [B, Hk, G] } : undefined;
}

/**
 * Moves the repetition of keys or values after an operation on them: a scale, a cast or a transpose.
 */
export function repeatLater(
  draft: Writer,
  kind: string,
  inputs: readonly LogicalTensor[],
  given: Attributes,
): RewrittenOperation | null {
  const repetitions = inputs.map(tensor => repetitionOf(draft, tensor));
  const n = repetitions.findIndex(found => found);
  const [repetition, repeated] = [repetitions[n], inputs[n]];
  if (!repetition || !repeated) return null;
  if (inputs.some((tensor, m) => m !== n && elementCount(shapeOf(tensor)) !== 1)) return null;
  const lead = leadOf(repeated);
  const swapped = [...lead.keys(), lead.length + 1, lead.length];
  const isSwap = kind === 'StaticTranspose' && `${given.order}` === `${swapped}`;
  if (!isSwap && !isElementwise(kind)) return null;
  return {
    inputs: inputs.map((tensor, m) => (m === n ? repetition.own : tensor)),
    given: isSwap ? { order: [0, 1, 2, 4, 3] } : given,
    after(result) {
      const rows = rowsOf(result);
      const wide = draft.op('Expand', [result], { shape: [...repetition.heads, ...rows] });
      return draft.reshape(wide, [...lead, ...rows]);
    },
  };
}

/**
 * Rewrites an operation on tensors (B, Hk·G, X, Y) or (B·Hk·G, X, Y) as an operation on (B, Hk, G, X, Y).
 * This begins at the product with repeated keys and ends at the product with repeated values; both products
 * then read the keys and values that are not repeated.
 */
export function splitGroups(
  draft: Writer,
  kind: string,
  inputs: readonly LogicalTensor[],
  given: Attributes,
): RewrittenOperation | null {
  const isProduct = kind === 'MatMul';
  const isRepeated = (tensor: LogicalTensor): boolean => repetitionOf(draft, tensor) !== undefined;
  const first = inputs.find(tensor => beforeMerge(draft, tensor) && isRepeated(tensor) === isProduct);
  const wide = first && beforeMerge(draft, first);
  const onRows = first && alongRows(kind, given, shapeOf(first).length);
  if (!wide || !(isProduct || onRows || isElementwise(kind))) return null;
  const heads = leadOf(wide);
  const isWhole = (lead: readonly number[]): boolean => elementCount(lead) === elementCount(heads);
  // A product may broadcast (H, X, Y) to (1, H, X, Y).
  const [merged = []] = inputs
    .map(leadOf)
    .filter(isWhole)
    .sort((a, b) => b.length - a.length);
  const [batch, Hq] = merged.length === 2 && merged[0] === heads[0] ? merged : [];
  const inGroups = (tensor: LogicalTensor): LogicalTensor | null => {
    const lead = leadOf(tensor);
    const to = (shape: readonly number[]) => draft.reshape(tensor, [...shape, ...rowsOf(tensor)]);
    const source = beforeMerge(draft, tensor);
    if (source && sameShape(leadOf(source), heads)) return repetitionOf(draft, tensor)?.own ?? source;
    if (isWhole(lead) && sameShape(lead, merged.slice(-lead.length))) return to(heads);
    if (isProduct) return null;
    if (elementCount(lead) === 1) return tensor;
    // A mask of all heads, or of each.
    const [b, h] = [1, 1, ...lead].slice(-2);
    if (batch === undefined || lead.length > 2 || ![1, Hq].includes(h)) return null;
    return to(h === 1 ? [b, 1, 1] : [b, ...heads.slice(1)]);
  };
  const split = inputs.flatMap(tensor => inGroups(tensor) ?? []);
  if (split.length < inputs.length) return null;
  return {
    inputs: split,
    given: onRows ?? given,
    after(result) {
      // A mask may have more batch entries than the scores.
      const [B] = shapeOf(result);
      return draft.reshape(result, [...(batch === undefined ? merged : [B, Hq]), ...rowsOf(result)]);
    },
  };
}

/** The tensor (B, H, X, Y) that `splitGroups` reshaped to five dimensions; undefined for any other tensor. */
export function beforeSplit(draft: Writer, tensor: LogicalTensor): LogicalTensor | undefined {
  const source = beforeReshape(draft, tensor);
  const [B, , ...rows] = source ? shapeOf(source) : [];
  const [b, , , ...own] = shapeOf(tensor);
  return B === b && rows.length === 2 && sameShape(rows, own) ? source : undefined;
}

const rowsOf = (tensor: LogicalTensor): readonly number[] => shapeOf(tensor).slice(-2);
const leadOf = (tensor: LogicalTensor): readonly number[] => shapeOf(tensor).slice(0, -2);

/**
 * The tensor (B, Hk, G, X, Y) that a reshape changed to (B, Hk·G, X, Y), or to (B·Hk·G, X, Y)
 * with or without an extent of 1 before; undefined for any other tensor.
 */
function beforeMerge(draft: Writer, tensor: LogicalTensor): LogicalTensor | undefined {
  const source = beforeReshape(draft, tensor);
  const [B, Hk, G, ...rows] = source ? shapeOf(source) : [];
  const lead = leadOf(tensor);
  const [batch, heads] = [1, ...lead].slice(-2);
  const isMerged = lead.length <= 2 && heads === (batch === B ? 1 : B) * Hk * G;
  return isMerged && rows.length === 2 && sameShape(rowsOf(tensor), rows) ? source : undefined;
}

/**
 * The attributes of a softmax or a reduction along the last of `rank` dimensions, for five dimensions; null
 * for any other operation.
 */
function alongRows(kind: string, given: Attributes, rank: number): Attributes | null {
  const isLast = [-1, rank - 1].includes(Number(given.axis ?? given.axes));
  if (!isLast) return null;
  if (kind === 'SoftMax') return { ...given, axis: 4 };
  return kind.startsWith('Reduce') && given.keep_dims ? { ...given, axes: [4] } : null;
}
