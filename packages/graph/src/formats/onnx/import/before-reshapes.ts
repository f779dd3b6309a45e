import { elementCount } from '@tilewise/core';
import type { Attributes } from '../../../ir/schema/attribute.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../ir/tensor/shape.ts';
import { operationOf } from '../../../ops/table.ts';

/** Adds operations to the graph. */
interface Writer {
  producerOf(
    tensor: LogicalTensor,
  ): { readonly kind: string; readonly inputs: readonly LogicalTensor[] } | undefined;
  op(kind: string, inputs: readonly LogicalTensor[], given: Attributes): LogicalTensor;
}

/** The tensor that a reshape changed to this one; null for the result of any other operation. */
function beforeReshape(draft: Writer, tensor: LogicalTensor): LogicalTensor | null {
  const node = draft.producerOf(tensor);
  const [source] = node?.kind === 'StaticReshape' ? node.inputs : [];
  return source ?? null;
}

const isElementwise = (kind: string): boolean =>
  operationOf(kind)?.element !== undefined || kind === 'TypeCast';

/** An operation on reshaped tensors that is rewritten as an operation on the tensors before the reshape. */
export interface RewrittenOperation {
  readonly inputs: readonly LogicalTensor[];
  readonly given: Attributes;
  /** The shape that the result of the operation as it was written has. */
  readonly shapeOf: (result: readonly number[]) => readonly number[];
}

/**
 * Moves reshapes after an operation of attention, which then has its usual form; null if no operand was
 * reshaped so. Exporters write batched products of three dimensions with reshapes around the masks, and scores
 * of windows that are reshaped to add the mask of each window.
 */
export function beforeReshapes(
  draft: Writer,
  kind: string,
  inputs: readonly LogicalTensor[],
  given: Attributes,
): RewrittenOperation | null {
  return splitOperands(draft, kind, inputs, given) ?? windowOperands(draft, kind, inputs, given);
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
      split.push(reshaped(draft, tensor, [B, H, ...shape.slice(1)]));
    else if (kind !== 'MatMul' && (shape.length < 3 || elementCount(shape.slice(0, -2)) === 1))
      split.push(tensor);
    else return null;
  }
  return {
    inputs: split,
    given: kind === 'SoftMax' ? { ...given, axis: 3 } : given,
    shapeOf: result => [B * H, ...result.slice(2)],
  };
}

/** Rewrites an elementwise operation on scores (N, W, H, X, Y) as an operation on (N·W, H, X, Y). */
function windowOperands(
  draft: Writer,
  kind: string,
  inputs: readonly LogicalTensor[],
  given: Attributes,
): RewrittenOperation | null {
  if (!isElementwise(kind)) return null;
  const sources = inputs.map(tensor => {
    const source = beforeReshape(draft, tensor);
    const isSplit = source?.shape?.length === 4 && `${source.shape.slice(1)}` === `${tensor.shape?.slice(2)}`;
    return isSplit ? source : null;
  });
  const whole = inputs.find((_, n) => sources[n])?.shape;
  if (!whole) return null;
  const [N = 1, W = 1] = whole;
  const joined = inputs.map((tensor, n) => {
    const own = shapeOf(tensor);
    if (`${own}` === `${whole}` && sources[n]) return sources[n];
    const shape = [...new Array<number>(Math.max(0, 5 - own.length)).fill(1), ...own];
    // A smaller tensor is repeated for each window, but not for heads, queries and keys.
    if (shape.length > 5 || shape.some((extent, d) => extent !== 1 && extent !== whole[d])) return null;
    const rest = shape.slice(2);
    if (shape[0] === 1 && shape[1] === 1) return reshaped(draft, tensor, own.slice(-3));
    const wide = draft.op('Expand', [reshaped(draft, tensor, shape)], { shape: [N, W, ...rest] });
    return reshaped(draft, wide, [N * W, ...rest]);
  });
  const all = joined.flatMap(tensor => tensor ?? []);
  return all.length < inputs.length
    ? null
    : { inputs: all, given, shapeOf: result => [N, W, ...result.slice(1)] };
}

function reshaped(draft: Writer, tensor: LogicalTensor, shape: readonly number[]): LogicalTensor {
  if (`${shapeOf(tensor)}` === `${shape}`) return tensor;
  return draft.op('StaticReshape', [tensor], { shape, special_zero: false });
}
