import { elementCount } from '@tilewise/core';
import type { Attributes } from '../../../../ir/schema/attribute.ts';
import type { LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../ir/tensor/shape.ts';
import { repeatLater, splitGroups } from './repeated-heads.ts';
import { beforeReshape, isElementwise, type RewrittenOperation, type Writer } from './writer.ts';

/**
 * Moves reshapes after an operation of attention, which then has its usual form; null if no operand was
 * reshaped like this. Exporters write batched products of three dimensions with reshapes around the masks,
 * and scores that are reshaped to add the mask of each window, or the distances of rows and columns of an
 * image.
 */
export function beforeReshapes(
  draft: Writer,
  kind: string,
  inputs: readonly LogicalTensor[],
  given: Attributes,
): RewrittenOperation | null {
  return (
    repeatLater(draft, kind, inputs, given) ??
    splitGroups(draft, kind, inputs, given) ??
    splitOperands(draft, kind, inputs, given) ??
    splitScores(draft, kind, inputs, given)
  );
}

/** Rewrites an operation on tensors (B·H, X, Y) as an operation on (B, H, X, Y). */
function splitOperands(
  draft: Writer,
  kind: string,
  inputs: readonly LogicalTensor[],
  given: Attributes,
): RewrittenOperation | null {
  const isRows = kind === 'SoftMax' && (given.axis === -1 || given.axis === 2);
  if (!isElementwise(kind) && !isRows && kind !== 'MatMul') return null;
  const sources = inputs.map(tensor => {
    const source = beforeReshape(draft, tensor);
    const [from, to] = [source ? shapeOf(source) : [], shapeOf(tensor)];
    const isMerge = from.length === 4 && to.length === 3 && `${from.slice(-2)}` === `${to.slice(-2)}`;
    return isMerge ? source : null;
  });
  const first = sources.find(source => source !== null);
  if (!first) return null;
  const [B = 1, H = 1] = shapeOf(first);
  const split: LogicalTensor[] = [];
  for (const [n, tensor] of inputs.entries()) {
    const source = sources[n];
    const shape = shapeOf(tensor);
    if (source && `${shapeOf(source).slice(0, 2)}` === `${[B, H]}`) split.push(source);
    else if (shape.length === 3 && shape[0] === B * H)
      split.push(draft.reshape(tensor, [B, H, ...shape.slice(1)]));
    else if (kind !== 'MatMul' && (shape.length < 3 || elementCount(shape.slice(0, -2)) === 1))
      split.push(tensor);
    else return null;
  }
  return {
    inputs: split,
    given: kind === 'SoftMax' ? { ...given, axis: 3 } : given,
    after: result => draft.reshape(result, [B * H, ...shapeOf(result).slice(2)]),
  };
}

/**
 * The dimensions of `wide` that a reshape split each dimension of `shape` into; null if the reshape also
 * joined dimensions.
 */
function splitDimensions(shape: readonly number[], wide: readonly number[]): readonly number[][] | null {
  let d = 0;
  const groups = shape.map(extent => {
    const group = [d];
    for (let size = wide[d++] ?? 0; size < extent && d < wide.length; d++) {
      size *= wide[d];
      group.push(d);
    }
    return group;
  });
  const sizes = groups.map(group => elementCount(group.map(n => wide[n] ?? 0)));
  return d === wide.length && `${sizes}` === `${shape}` ? groups : null;
}

/**
 * The scores that a reshape split into five dimensions, and their shape; null for any other tensor. The batch
 * and the heads may have been joined.
 */
function scoresBefore(
  draft: Writer,
  tensor: LogicalTensor,
): { readonly tensor: LogicalTensor; readonly shape: readonly number[] } | null {
  const source = tensor.shape?.length === 5 ? beforeReshape(draft, tensor) : null;
  // A rewritten operation has fewer dimensions, so it is not rewritten in this way again.
  if (!source || shapeOf(source).length > 4) return null;
  const [B = 1, H = 1, ...scores] = shapeOf(source);
  const shape = [shapeOf(source), [B * H, ...scores]].find(
    own => own.length >= 3 && splitDimensions(own, shapeOf(tensor)),
  );
  return shape ? { tensor: source, shape } : null;
}

/**
 * Rewrites an elementwise operation on scores whose dimensions were split, (N, W, H, X, Y) for windows or
 * (B, y, x, y, x) for the pixels of an image, as an operation on the scores before.
 */
function splitScores(
  draft: Writer,
  kind: string,
  inputs: readonly LogicalTensor[],
  given: Attributes,
): RewrittenOperation | null {
  if (!isElementwise(kind)) return null;
  const sources = inputs.map(tensor => scoresBefore(draft, tensor));
  const n = sources.findIndex(source => source !== null);
  const [source, scores] = [sources[n], inputs[n]];
  if (!source || !scores) return null;
  const whole = shapeOf(scores);
  // Operations on scores of groups of heads, which `splitGroups` has rewritten, keep their five dimensions.
  if (inputs.some((tensor, m) => !sources[m] && `${shapeOf(tensor)}` === `${whole}`)) return null;
  const groups = splitDimensions(source.shape, whole) ?? [];
  const joined = inputs.map((tensor, m) => {
    const own = shapeOf(tensor);
    const before = sources[m];
    if (before && `${own}` === `${whole}`) return draft.reshape(before.tensor, source.shape);
    const shape = [...new Array<number>(Math.max(0, 5 - own.length)).fill(1), ...own];
    if (shape.length > 5 || shape.some((extent, d) => extent !== 1 && extent !== whole[d])) return null;
    // Parts of a dimension cannot broadcast, so the tensor is repeated along them.
    const wide = groups.flatMap(group => {
      const isWhole = group.some(d => shape[d] !== 1);
      return group.map(d => (isWhole ? whole[d] : 1));
    });
    const repeated =
      `${wide}` === `${shape}` ? tensor : draft.op('Expand', [draft.reshape(tensor, shape)], { shape: wide });
    return draft.reshape(
      repeated,
      groups.map(group => elementCount(group.map(d => wide[d]))),
    );
  });
  const all = joined.flatMap(tensor => tensor ?? []);
  return all.length < inputs.length
    ? null
    : { inputs: all, given, after: result => draft.reshape(result, whole) };
}
