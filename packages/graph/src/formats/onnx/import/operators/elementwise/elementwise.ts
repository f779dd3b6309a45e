import { Tensor } from '@tilewise/core';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { broadcastShapes } from '../../../../../ir/tensor/shape.ts';
import type { Draft } from '../../draft.ts';
import type { ElementType } from '../../file/element-type.ts';
import type { NodeCall, OnnxOperator, SingleOperator } from '../../node-call.ts';
import { foldedElements, type HostTensor, type Value } from '../../value.ts';

/** Computes an element of the result from the elements of the inputs at the same position. */
type Apply = (numbers: readonly number[], call: NodeCall) => number;
export type Emit = (draft: Draft, tensors: readonly LogicalTensor[], call: NodeCall) => LogicalTensor;

/**
 * The inputs of a node, aligned so that they broadcast as in NumPy. Before version 7, the attribute `axis`
 * names the dimension of the first input that the second input's first dimension belongs to.
 */
function alignedInputs(call: NodeCall): readonly (Value | null)[] {
  const [first, second, ...others] = call.inputs;
  const axis = call.version < 7 && first && second ? call.attribute('axis', 'int') : undefined;
  if (axis === undefined || !first || !second || others.length > 0) return call.inputs;
  const { shape: own, host, tensor } = second;
  const behind = first.shape.length - call.axis(axis, first.shape.length) - own.length;
  if (behind < 0) call.fail(`cannot align [${own}] with [${first.shape}] from axis ${axis}`);
  const shape = [...own, ...new Array<number>(behind).fill(1)];
  const aligned: Value = {
    ...{ ...second, shape },
    host: host && (() => ({ shape, values: host().values })),
    tensor: () => call.draft.reshape(tensor(), shape),
  };
  return [first, aligned];
}

/** The shape that all inputs of a node broadcast to. */
function broadcastShape(call: NodeCall): readonly number[] {
  return alignedInputs(call).reduce<readonly number[]>(
    (shape, value) => (value ? (broadcastShapes(shape, value.shape) ?? []) : shape),
    [],
  );
}

/**
 * Converts a number to an element of a type: integers are truncated and wrap around as in C, f32 and bool are
 * rounded.
 */
function asElement({ kind, bits }: ElementType, x: number): number {
  if (kind === 'bool') return x === 0 ? 0 : 1;
  if (kind === 'float') return bits === 32 ? Math.fround(x) : x;
  const whole = Math.trunc(x);
  if (bits === 64) return whole;
  const size = 2 ** bits;
  const wrapped = ((whole % size) + size) % size;
  return kind === 'signed' && wrapped >= size / 2 ? wrapped - size : wrapped;
}

/** Converts numbers to a type; 16-bit and smaller floats are rounded too. */
function asElements({ kind, bits, dtype }: ElementType, { shape, values }: HostTensor): HostTensor {
  if (kind !== 'float' || bits >= 32) return { shape, values };
  const rounded = Tensor.from(values, shape, { dtype, ...(bits === 16 && { overflow: 'ieee' }) });
  return { shape, values: rounded.toFloat64() };
}

/**
 * An operator that computes each element from the elements of its inputs at the same position.
 * @param needed the number of required inputs.
 * @param apply null for an operator that is not computed on numbers; its node is always part of the graph.
 */
export function elementwise(
  needed: number,
  apply: Apply | null,
  emit: Emit,
  result: (call: NodeCall) => ElementType = call => call.input(0).type,
  shapeFrom: (call: NodeCall) => readonly number[] = broadcastShape,
): SingleOperator {
  return call => {
    for (let n = 0; n < needed; n++) call.input(n);
    const type = result(call);
    const shape = shapeFrom(call);
    const inputs = alignedInputs(call);
    const numbers = apply && foldedElements(inputs, shape, own => asElement(type, apply(own, call)));
    return {
      ...{ type, shape },
      fold: numbers && (() => asElements(type, numbers())),
      emit: () => {
        const tensors = inputs.flatMap(value => value?.tensor() ?? []);
        const made = emit(call.draft, tensors, call);
        // If an attribute replaces an operand, the operation does not broadcast to the operand's shape, and
        // it may compute in f32.
        return call.draft.expand(call.draft.cast(made, type.dtype), shape);
      },
    };
  };
}

/** An operator that is equivalent to one operation of the graph. */
export const same =
  (kind: string): Emit =>
  (draft, tensors) =>
    draft.op(kind, tensors);

/** A function of one number, with the graph's operation of the same meaning. */
export const unary = (kind: string, apply: (x: number) => number): OnnxOperator =>
  elementwise(1, ([x]) => apply(x), same(kind));
