import { LARGEST_F32 } from '../../../../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { broadcastShapes, shapeOf } from '../../../../../ir/tensor/shape.ts';
import { type Draft, type DraftNode, isFloat } from '../../draft.ts';
import type { NodeCall } from '../../node-call.ts';
import { beforeReshapes } from '../../reshapes/before-reshapes.ts';
import { beforeSplit } from '../../reshapes/repeated-heads.ts';
import { beforeReshape } from '../../reshapes/writer.ts';
import type { Value } from '../../value.ts';

/** The float that a cast to another float dtype reads; undefined for the result of any other operation. */
function beforeFloatCast(draft: Draft, tensor: LogicalTensor): LogicalTensor | undefined {
  const { kind, inputs: [source] = [] } = draft.producerOf(tensor) ?? {};
  return kind === 'TypeCast' && source && isFloat(source) && isFloat(tensor) ? source : undefined;
}

/** The 16-bit float that a cast to f32 reads; the tensor itself if there is no such cast. */
const beforeWidening = (draft: Draft, tensor: LogicalTensor): LogicalTensor =>
  (tensor.dtype === 'f32' && beforeFloatCast(draft, tensor)) || tensor;

/** The number of a constant with one number; NaN for any other operation. */
function numberOf(draft: Draft, tensor: LogicalTensor | undefined): number {
  const own = tensor && beforeWidening(draft, tensor);
  const node = own && draft.producerOf(beforeReshape(draft, own) ?? own);
  return node?.kind === 'Constant' ? Number(node.given.value) : NaN;
}

/** The softmax that produces a tensor, perhaps before casts between floats; undefined if none does. */
function softmaxOf(draft: Draft, tensor: LogicalTensor): DraftNode | undefined {
  // A file may have more casts in a row than the stack has room for.
  let source: LogicalTensor = tensor;
  for (let next: LogicalTensor | undefined = tensor; next; next = beforeFloatCast(draft, next)) source = next;
  const node = draft.producerOf(source);
  return node?.kind === 'SoftMax' ? node : undefined;
}

/** Whether all elements of a value are known to be 0. */
const isZero = ({ host }: Value): boolean => host !== null && Array.from(host().values).every(x => x === 0);

/** The input of Where(condition, a, b) that is kept: 1 for a, 2 for b, 0 if both or neither are. */
function keptInput(inputs: readonly LogicalTensor[], isKept: (tensor: LogicalTensor) => boolean): 0 | 1 | 2 {
  const [a, b] = inputs.slice(1).map(isKept);
  return a === b ? 0 : a ? 1 : 2;
}

const isLastAxis = (axis: number, tensor: LogicalTensor | undefined): boolean =>
  tensor !== undefined && [-1, shapeOf(tensor).length - 1].includes(axis);

/**
 * The boolean tensor that decides where a kept tensor is replaced: where it is true or, if `isNegated`, where
 * it is false. With `ofRows`, the condition may also be that this holds for all elements along the last axis.
 */
function replacing(
  draft: Draft,
  condition: LogicalTensor,
  keeps: number,
  ofRows = false,
): { readonly bools: LogicalTensor; readonly isNegated: boolean } {
  let [x, isNegated] = [condition, keeps === 1];
  let found = { bools: x, isNegated };
  for (;;) {
    x = beforeSplit(draft, x) ?? x;
    if (x.dtype === 'bool') found = { bools: x, isNegated };
    const { kind = '', inputs: [source, bound] = [], given } = draft.producerOf(x) ?? {};
    // Exporters cast booleans to numbers, and compare their sum with 0.
    const isKept = kind === 'TypeCast' || (kind === 'Greater' && numberOf(draft, bound) === 0);
    // Not all are true if one is false.
    const isExtreme = (isNegated ? /^Reduce(Max|Sum)$/ : /^ReduceMin/).test(kind);
    const isAll = ofRows && isExtreme && isLastAxis(Number(given?.axes), source);
    if (kind === 'LogicalNot') isNegated = !isNegated;
    else if (!isKept && !isAll) return found;
    x = source as LogicalTensor;
  }
}

/**
 * Simplifies Where(condition, a, b) with the probabilities p of a softmax on one side, which exporters write
 * to guard rows without visible keys. Null for any other operation.
 *
 *     Where(IsNaN(p), 0, p)      a softmax that gives 0 for such rows, with gradients of 0
 *     Where(mask, 0, p)          the same softmax, if the scores of p are Where(mask, −large, s)
 *     Where(all(mask), 0, p)     the same softmax, for this mask or the mask `scores = −∞`, over whole rows
 *     Where(false, a, p)         p
 */
export function guardedSoftmax(
  draft: Draft,
  inputs: readonly LogicalTensor[],
  call: NodeCall,
): LogicalTensor | null {
  const rewritten = beforeReshapes(draft, 'Where', inputs, {});
  if (rewritten) {
    const guarded = guardedSoftmax(draft, rewritten.inputs, call);
    return guarded && rewritten.after(guarded);
  }
  const keeps = keptInput(inputs, tensor => softmaxOf(draft, tensor) !== undefined);
  const [condition] = inputs;
  const p = inputs[keeps];
  const softmax = p && softmaxOf(draft, p);
  const [scores] = softmax?.inputs ?? [];
  if (!softmax || !scores || !condition) return null;
  const test = draft.producerOf(condition);
  const isWhole = `${shapeOf(p)}` === `${shapeOf(condition)}`;
  if (isWhole && keeps === 2 && numberOf(draft, condition) === 0) return p;
  if (!isZero(call.input(3 - keeps))) return null;
  const guarded = (of: LogicalTensor): LogicalTensor =>
    draft.cast(
      draft.op('SoftMax', [of], { ...softmax.given, mode: 'inf_as_zero' }, softmax.outputs[0].dtype),
      p.dtype,
    );
  const isSame = (a: LogicalTensor | undefined, b: LogicalTensor): boolean =>
    a !== undefined && beforeWidening(draft, a).id === beforeWidening(draft, b).id;
  const isOfNaN = test?.kind === 'NotEqual' && test.inputs.every(x => isSame(x, p));
  if (isOfNaN && keeps === 2) return guarded(scores);
  const { bools, isNegated } = replacing(
    draft,
    condition,
    keeps,
    isLastAxis(Number(softmax.given.axis), scores),
  );
  const compared = draft.producerOf(bools);
  const [left, right] = compared?.inputs ?? [];
  const isOfScores = compared?.kind === 'Equal' && isSame(left, scores) && !isNegated;
  if (isOfScores && numberOf(draft, right) === -Infinity) return guarded(scores);
  // Only Select and Where have a condition and two more inputs.
  const [mask, a, b] = draft.producerOf(beforeWidening(draft, scores))?.inputs ?? [];
  if (mask?.dtype !== 'bool' || !a || !b) return null;
  const own = keptInput([mask, a, b], tensor => !(numberOf(draft, tensor) < -1e4));
  const hidden = replacing(draft, mask, own);
  if (own === 0 || hidden.bools.id !== bools.id || hidden.isNegated !== isNegated) return null;
  const none = draft.scalar(-Infinity, a.dtype);
  return guarded(draft.cast(draft.select(mask, own === 1 ? a : none, own === 1 ? none : b), scores.dtype));
}

/** a ∧ b; an operand that is false everywhere is the result. */
export function both(draft: Draft, tensors: readonly LogicalTensor[]): LogicalTensor {
  const whole = broadcastShapes(...tensors.map(shapeOf));
  const never = tensors.find(tensor => numberOf(draft, tensor) === 0 && `${shapeOf(tensor)}` === `${whole}`);
  return never ?? draft.op('LogicalAnd', tensors, {}, 'bool');
}

/** Whether x is infinite; probabilities never are. */
export function isInfinite(
  draft: Draft,
  x: LogicalTensor,
  { positive, negative }: { readonly positive: boolean; readonly negative: boolean },
): LogicalTensor {
  const isProbability = softmaxOf(draft, beforeReshape(draft, x) ?? x) !== undefined;
  if (isProbability || !(positive || negative)) return draft.inline([0], shapeOf(x), 'bool');
  const wide = draft.cast(x, 'f32');
  const compare = (kind: 'Greater' | 'Less', bound: number): LogicalTensor =>
    draft.test(kind, wide, draft.scalar(bound, 'f32'));
  if (!negative) return compare('Greater', LARGEST_F32);
  const isLow = compare('Less', -LARGEST_F32);
  return positive ? draft.test('LogicalOr', compare('Greater', LARGEST_F32), isLow) : isLow;
}
