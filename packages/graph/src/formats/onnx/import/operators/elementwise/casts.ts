import { boolType, type ElementType, elementTypeOf, isInteger } from '../../file/element-type.ts';
import { type NodeCall, type OnnxOperator, result, type SingleOperator } from '../../node-call.ts';
import { elementwise } from './elementwise.ts';
import { lowBits } from './wrapping.ts';

/** The element type with a number in the model. */
function typeNumbered(call: NodeCall, number: number): ElementType {
  return (
    elementTypeOf(number) ?? call.refuse(`casts to the element type ${number}, which engines do not support`)
  );
}

/**
 * Whether an integer of a type may be out of another type's range, so that only its lower bits are kept. For
 * floats out of range any result is allowed; engines' casts saturate, but engines have no casts to 4 bits or
 * fewer.
 */
function dropsBits(from: ElementType, to: ElementType): boolean {
  if (!isInteger(to) || to.bits >= 32 || from.kind === 'bool') return false;
  if (from.kind === 'float') return to.bits < 8;
  return from.kind === to.kind ? from.bits > to.bits : to.kind === 'unsigned' || from.bits >= to.bits;
}

/** Refuses casts that must not saturate, because engines' casts do. */
export function refuseOverflow(call: NodeCall, { name, kind, bits }: ElementType): void {
  if (kind === 'float' && bits === 8 && !call.flag('saturate', true))
    call.refuse(`casts to ${name} without saturating; engines saturate`);
}

const castOperator = (target: (call: NodeCall) => ElementType): OnnxOperator =>
  elementwise(
    1,
    ([x]) => x,
    (draft, [x], call) => {
      const type = target(call);
      return draft.cast(dropsBits(call.input(0).type, type) ? lowBits(draft, x, type) : x, type.dtype);
    },
    call => {
      const type = target(call);
      refuseOverflow(call, type);
      return type;
    },
    // CastLike has a second input, of which only the type matters.
    call => call.shape(0),
  );

const identity: SingleOperator = call => {
  const { type, shape, host, tensor } = call.input(0);
  return { type, shape, fold: host, emit: tensor };
};

/** Dropout in inference, which drops nothing. */
const dropout: OnnxOperator = call => {
  const isTraining =
    call.version >= 12 ? call.has(2) && call.numbers(2)[0] !== 0 : call.int('is_test', 1) === 0;
  const ratio = call.version < 12 ? call.float('ratio', 0.5) : call.has(1) ? call.numbers(1)[0] : 0.5;
  if (isTraining && ratio !== 0) call.refuse('drops elements at random: export the model for inference');
  const { shape } = call.input(0);
  const type = call.version < 10 ? call.input(0).type : boolType;
  const kept = result({ type, shape }, () => call.draft.inline([1], shape, type.dtype));
  return [identity(call), kept];
};

/** Operators that change the type of elements, or change nothing. */
export const castOperators: Readonly<Record<string, OnnxOperator>> = {
  Cast: castOperator(call => typeNumbered(call, call.int('to', 1))),
  CastLike: castOperator(call => call.input(1).type),
  Dropout: dropout,
  Identity: identity,
};
