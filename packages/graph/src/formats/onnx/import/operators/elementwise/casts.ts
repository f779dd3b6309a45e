import { boolType, type ElementType, elementTypeOf } from '../../file/element-type.ts';
import { type NodeCall, type OnnxOperator, result, type SingleOperator } from '../../node-call.ts';
import { cast } from '../emit.ts';

import { elementwise } from './elementwise.ts';

/** A type of the model by its number. */
function typeNumbered(call: NodeCall, number: number): ElementType {
  return (
    elementTypeOf(number) ?? call.refuse(`casts to the element type ${number}, which engines do not have`)
  );
}

/** Refuses what engines, whose casts saturate, do not do. */
export function refuseOverflow(call: NodeCall, { name, kind, bits }: ElementType): void {
  if (kind === 'float' && bits === 8 && !call.flag('saturate', true))
    call.refuse(`casts to ${name} without saturating; engines saturate`);
}

const castOperator = (target: (call: NodeCall) => ElementType): OnnxOperator =>
  elementwise(
    ([x]) => x,
    (draft, [x], call) => cast(draft, x, target(call).dtype),
    call => {
      const type = target(call);
      refuseOverflow(call, type);
      return type;
    },
    // CastLike has a second input, of which only the type counts.
    call => call.shape(0),
  );

const identity: SingleOperator = call => {
  const { type, shape, host, tensor } = call.input(0);
  return { type, shape, fold: host, emit: tensor };
};

/** Dropout of inference drops nothing. */
const dropout: OnnxOperator = call => {
  const isTraining =
    call.version >= 12 ? call.has(2) && call.numbers(2)[0] !== 0 : call.int('is_test', 1) === 0;
  const ratio = call.version < 12 ? call.float('ratio', 0.5) : call.has(1) ? call.numbers(1)[0] : 0.5;
  if (isTraining && ratio !== 0) call.refuse('drops elements at random: export the model for inference');
  const { shape } = call.input(0);
  const type = call.version < 10 ? call.input(0).type : boolType;
  const kept = result({ type, shape }, () =>
    call.draft.op('Constant', [], { value: [1], shape }, type.dtype),
  );
  return [identity(call), kept];
};

/** Operators that change the type of elements, or nothing. */
export const castOperators: Readonly<Record<string, OnnxOperator>> = {
  Cast: castOperator(call => typeNumbered(call, call.int('to', 1))),
  CastLike: castOperator(call => call.input(1).type),
  Dropout: dropout,
  Identity: identity,
};
