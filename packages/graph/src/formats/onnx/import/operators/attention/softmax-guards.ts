import { LARGEST_F32 } from '../../../../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { broadcastShapes, shapeOf } from '../../../../../ir/tensor/shape.ts';
import type { Draft, DraftNode } from '../../draft.ts';
import type { NodeCall } from '../../node-call.ts';
import type { Value } from '../../value.ts';

const isConstant = (node: DraftNode | undefined, value: number): boolean =>
  node?.kind === 'Constant' && `${node.given.value}` === `${value}`;

/** The softmax that produces a tensor; undefined for any other tensor. */
function softmaxOf(draft: Draft, tensor: LogicalTensor): DraftNode | undefined {
  const node = draft.producerOf(tensor);
  return node?.kind === 'SoftMax' ? node : undefined;
}

/** The number that all elements of a tensor have; NaN for any other tensor. */
function uniform(draft: Draft, tensor: LogicalTensor, value: Value): number {
  const node = draft.producerOf(tensor);
  if (node?.kind === 'Constant') return Number(node.given.value);
  const { values } = value.host?.() ?? { values: [] };
  const [first = Number.NaN] = Array.from(values);
  return Array.from(values).every(x => x === first) ? first : Number.NaN;
}

/**
 * An operation that chooses by a condition between a kept tensor and another one; null if both or neither are
 * kept.
 */
function choice(
  { inputs: [condition, a, b] }: Pick<DraftNode, 'inputs'>,
  isKept: (tensor: LogicalTensor) => boolean,
): {
  readonly condition: number;
  readonly keeps: 1 | 2;
  readonly kept: LogicalTensor;
  readonly other: LogicalTensor;
} | null {
  if (!condition || !a || !b || isKept(a) === isKept(b)) return null;
  return isKept(a)
    ? { condition: condition.id, keeps: 1, kept: a, other: b }
    : { condition: condition.id, keeps: 2, kept: b, other: a };
}

/**
 * Simplifies Where(condition, a, b) with the probabilities p of a softmax on one side, which exporters write
 * to guard rows without visible keys. Null for any other operation.
 *
 *     Where(IsNaN(p), 0, p)         is a softmax that gives 0 for such rows, with gradients of 0
 *     Where(mask, 0, p)             is so, too, where the scores of p are Where(mask, −large, s)
 *     Where(false, a, p)            is p
 */
export function guardedSoftmax(
  draft: Draft,
  inputs: readonly LogicalTensor[],
  call: NodeCall,
): LogicalTensor | null {
  const outer = choice({ inputs }, tensor => softmaxOf(draft, tensor) !== undefined);
  const softmax = outer && softmaxOf(draft, outer.kept);
  const [scores] = softmax?.inputs ?? [];
  const [condition] = inputs;
  if (!outer || !softmax || !scores || !condition) return null;
  const { kept: p } = outer;
  const test = draft.producerOf(condition);
  const isWhole = `${shapeOf(p)}` === `${shapeOf(condition)}`;
  if (isWhole && outer.keeps === 2 && isConstant(test, 0)) return p;
  if (uniform(draft, outer.other, call.input(outer.keeps === 1 ? 2 : 1)) !== 0) return null;
  const guarded = (of: LogicalTensor): LogicalTensor =>
    draft.op('SoftMax', [of], { ...softmax.given, mode: 'inf_as_zero' }, p.dtype);
  const isOfNaN = test?.kind === 'NotEqual' && test.inputs.every(({ id }) => id === p.id);
  if (isOfNaN && outer.keeps === 2) return guarded(scores);
  const masked = draft.producerOf(scores);
  if (masked?.kind !== 'Select' && masked?.kind !== 'Where') return null;
  const isFill = (tensor: LogicalTensor): boolean => {
    const node = draft.producerOf(tensor);
    return node?.kind === 'Constant' && Number(node.given.value) < -1e4;
  };
  const inner = choice(masked, tensor => !isFill(tensor));
  if (inner?.condition !== outer.condition || inner.keeps !== outer.keeps) return null;
  const none = draft.scalar(Number.NEGATIVE_INFINITY, scores.dtype);
  const [a, b] = inner.keeps === 1 ? [inner.kept, none] : [none, inner.kept];
  return guarded(draft.select(condition, a, b));
}

/** a ∧ b; an operand that is false everywhere is the result. */
export function both(draft: Draft, tensors: readonly LogicalTensor[]): LogicalTensor {
  const whole = broadcastShapes('And', ...(tensors.map(shapeOf) as [readonly number[], readonly number[]]));
  const never = tensors.find(
    tensor => isConstant(draft.producerOf(tensor), 0) && `${shapeOf(tensor)}` === `${whole}`,
  );
  return never ?? draft.op('LogicalAnd', tensors, {}, 'bool');
}

/** Whether x is infinite; probabilities never are. */
export function isInfinite(
  draft: Draft,
  x: LogicalTensor,
  { positive, negative }: { readonly positive: boolean; readonly negative: boolean },
): LogicalTensor {
  if (softmaxOf(draft, x) || !(positive || negative)) return draft.inline([0], shapeOf(x), 'bool');
  const wide = draft.cast(x, 'f32');
  const compare = (kind: 'Greater' | 'Less', bound: number): LogicalTensor =>
    draft.test(kind, wide, draft.scalar(bound, 'f32'));
  if (!negative) return compare('Greater', LARGEST_F32);
  const isLow = compare('Less', -LARGEST_F32);
  return positive ? draft.test('LogicalOr', compare('Greater', LARGEST_F32), isLow) : isLow;
}
