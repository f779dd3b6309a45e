import type { LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import { broadcastShapes } from '../../../../ir/tensor/shape.ts';
import type { Draft } from '../draft.ts';
import { boolType, type ElementType, elementTypeOf, isInteger } from '../element-type.ts';
import type { NodeCall, OnnxOperator } from '../node-call.ts';
import { hostTensor, reader, staticNumbers, type Value } from '../value.ts';
import { clip } from './clip.ts';
import { divideIntegers } from './divide-integers.ts';
import { arithmetic, cast, reshape, scalar, select, shapeOf } from './emit.ts';
import { both, guardedSoftmax, isInfinite } from './softmax-guards.ts';

type Apply = (...numbers: readonly number[]) => number;
type Emit = (draft: Draft, tensors: readonly LogicalTensor[], call: NodeCall) => LogicalTensor;

/**
 * The inputs of a node, to be broadcast as NumPy does. Before version 7, the attribute `axis` says which
 * dimension of the first input is the first of the second one.
 */
function alignedInputs(call: NodeCall): readonly (Value | null)[] {
  const [first, second, ...others] = call.inputs;
  const axis = call.version < 7 && first && second ? call.optionalNumber('axis', 'int') : null;
  if (axis === null || !first || !second || others.length > 0) return call.inputs;
  const { shape: own, host, tensor } = second;
  const behind = first.shape.length - call.axis(axis, first.shape.length) - own.length;
  if (behind < 0) call.fail(`cannot align [${own}] with [${first.shape}] from axis ${axis}`);
  const shape = [...own, ...new Array<number>(behind).fill(1)];
  const aligned: Value = {
    ...{ ...second, shape },
    host: host && (() => ({ shape, values: host().values })),
    tensor: () => reshape(call.draft, tensor(), shape),
  };
  return [first, aligned];
}

/** The shape that all inputs of a node are broadcast to. */
export function broadcastShape(call: NodeCall): readonly number[] {
  return alignedInputs(call).reduce<readonly number[]>(
    (shape, value) => (value ? (broadcastShapes(call.label, shape, value.shape) ?? []) : shape),
    [],
  );
}

/**
 * A number as an element of a type: integers are truncated and wrap as C has it, f32 and bool are rounded.
 */
export function asElement({ kind, bits, dtype }: ElementType, x: number): number {
  if (kind === 'bool') return x === 0 ? 0 : 1;
  if (kind === 'float') return dtype === 'f32' && bits === 32 ? Math.fround(x) : x;
  const whole = Math.trunc(x);
  if (bits === 64) return whole;
  const size = 2 ** bits;
  const wrapped = ((whole % size) + size) % size;
  return kind === 'signed' && wrapped >= size / 2 ? wrapped - size : wrapped;
}

/** An operator that computes each element from the elements of its inputs at one place. */
export function elementwise(
  apply: (call: NodeCall, type: ElementType) => Apply,
  emit: Emit,
  result: (call: NodeCall) => ElementType = call => call.input(0).type,
  shapeFrom: (call: NodeCall) => readonly number[] = broadcastShape,
): OnnxOperator {
  return call => {
    const type = result(call);
    const shape = shapeFrom(call);
    const inputs = alignedInputs(call);
    const hosts = inputs.map(value => value?.host ?? null);
    const isKnown = hosts.every(host => host !== null);
    const fold = () => {
      const compute = apply(call, call.input(0).type);
      const reads = hosts.map(host => reader(host?.() ?? { shape: [], values: [] }, shape));
      return hostTensor(shape, index => asElement(type, compute(...reads.map(read => read(index)))));
    };
    return [
      {
        ...{ type, shape },
        ...(isKnown && { fold }),
        emit: () => {
          const tensors = inputs.flatMap(value => value?.tensor() ?? []);
          const made = emit(call.draft, tensors, call);
          // Operations with an attribute in place of an operand know nothing of its dimensions, and may
          // compute in f32.
          const typed = cast(call.draft, made, type.dtype);
          return `${shapeOf(typed)}` === `${shape}` ? typed : call.draft.op('Expand', [typed], { shape });
        },
      },
    ];
  };
}

/** An operator with the meaning of one operation of the graph. */
const same =
  (kind: string): Emit =>
  (draft, tensors) =>
    arithmetic(draft, kind, tensors);

/** A function of one number, as the operation of this kind. */
const unary = (kind: string, apply: (x: number) => number): OnnxOperator =>
  elementwise(() => x => apply(x ?? Number.NaN), same(kind));

const binary = (
  emit: string | Emit,
  apply: (a: number, b: number, type: ElementType) => number,
): OnnxOperator =>
  elementwise(
    (_, type) =>
      (a = Number.NaN, b = Number.NaN) =>
        apply(a, b, type),
    typeof emit === 'string' ? same(emit) : emit,
  );

const compare = (kind: string, apply: (a: number, b: number) => boolean): OnnxOperator =>
  elementwise(
    () =>
      (a = Number.NaN, b = Number.NaN) =>
        Number(apply(a, b)),
    (draft, tensors) => draft.op(kind, comparable(draft, tensors), {}, 'bool'),
    () => boolType,
  );

/** Tensors of types that comparisons do not take, as i32, which holds all numbers of 8 bits and the truth. */
function comparable(draft: Draft, tensors: readonly LogicalTensor[]): LogicalTensor[] {
  return tensors.map(tensor =>
    ['bool', 'i8', 'u8'].includes(tensor.dtype) ? cast(draft, tensor, 'i32') : tensor,
  );
}

/** The nearest integer, less or plus one where it lies beyond x. */
const rounded =
  (beyond: 'Greater' | 'Less', correct: 'Subtract' | 'Add'): Emit =>
  (draft, [x], call) => {
    if (!x) return call.fail('takes one input');
    const nearest = draft.op('Round', [x]);
    return draft.op(correct, [nearest, cast(draft, draft.op(beyond, [nearest, x], {}, 'bool'), x.dtype)]);
  };

const logic = (emit: Emit, apply: (a: boolean, b: boolean) => boolean): OnnxOperator =>
  elementwise(
    () =>
      (a = 0, b = 0) =>
        Number(apply(a !== 0, b !== 0)),
    emit,
    () => boolType,
  );

/** Integers are divided towards 0, as ONNX has it. */
const divided = (a: number, b: number, type: ElementType): number =>
  isInteger(type) ? Math.trunc(a / b) : a / b;

const quotient: Emit = (draft, [a, b], call) => {
  if (!a || !b) return call.fail('takes two inputs');
  if (!isInteger(call.input(0).type)) return draft.op('Divide', [a, b]);
  return cast(draft, divideIntegers(draft, a, b).quotient, a.dtype);
};

/** a − b·q, where q is a / b towards 0 with `fmod`, else downwards. */
const modulo: Emit = (draft, [a, b], call) => {
  if (!a || !b) return call.fail('takes two inputs');
  const towardsZero = call.flag('fmod', false);
  if (isInteger(call.input(0).type)) {
    const { remainder, floorRemainder } = divideIntegers(draft, a, b);
    return cast(draft, towardsZero ? remainder : floorRemainder, a.dtype);
  }
  const [x, y] = [cast(draft, a, 'f32'), cast(draft, b, 'f32')];
  const ratio = draft.op('Divide', [x, y]);
  const down = rounded('Greater', 'Subtract')(draft, [ratio], call);
  const up = rounded('Less', 'Add')(draft, [ratio], call);
  const isNegative = draft.op('Less', [ratio, scalar(draft, 0, 'f32')], {}, 'bool');
  const whole = towardsZero ? select(draft, isNegative, up, down) : down;
  return cast(draft, draft.op('Subtract', [x, draft.op('Multiply', [whole, y])]), a.dtype);
};

/** A sum of more than two terms, pair by pair. */
const folded =
  (kind: string): Emit =>
  (draft, [first, ...others], call) =>
    others.reduce<LogicalTensor>((sum, next) => same(kind)(draft, [sum, next], call), first as LogicalTensor);

const most = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b));
const least = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.min(a, b));

/** x^y. A known exponent becomes an attribute; 2 and 0.5 have operations of their own. */
const power: Emit = (draft, [x, y], call) => {
  const exponent = staticNumbers(call.input(1));
  const value = exponent?.length === 1 ? exponent[0] : undefined;
  if (x === undefined || y === undefined) return call.fail('takes two inputs');
  if (value === 2) return draft.op('Square', [x]);
  if (value === 0.5) return draft.op('Sqrt', [x]);
  if (value !== undefined && value !== 1) return draft.op('Pow', [x], { beta: value });
  if (value === 1) return x;
  return draft.op('Power', [cast(draft, x, 'f32'), cast(draft, y, 'f32')]);
};

/** Whether x is NaN: no number but NaN differs from itself. */
const isNaNOperator: OnnxOperator = elementwise(
  () => x => Number(Number.isNaN(x)),
  (draft, [x]) => draft.op('NotEqual', [x as LogicalTensor, x as LogicalTensor], {}, 'bool'),
  () => boolType,
);

const isInfOperator: OnnxOperator = elementwise(
  call => {
    const [high, low] = [call.flag('detect_positive', true), call.flag('detect_negative', true)];
    return x => Number((high && x === Infinity) || (low && x === -Infinity));
  },
  (draft, [x], call) =>
    isInfinite(draft, x as LogicalTensor, {
      positive: call.flag('detect_positive', true),
      negative: call.flag('detect_negative', true),
    }),
  () => boolType,
);

/** A type of the model by its number. */
function typeNumbered(call: NodeCall, number: number): ElementType {
  return (
    elementTypeOf(number) ?? call.refuse(`casts to the element type ${number}, which engines do not have`)
  );
}

const castOperator = (target: (call: NodeCall) => ElementType): OnnxOperator =>
  elementwise(
    () => x => x ?? Number.NaN,
    (draft, [x], call) => cast(draft, x as LogicalTensor, target(call).dtype),
    target,
    // CastLike has a second input, of which only the type counts.
    call => call.shape(0),
  );

const identity: OnnxOperator = call => {
  const { type, shape, host, tensor } = call.input(0);
  return [{ ...{ type, shape }, ...(host && { fold: host }), emit: tensor }];
};

/** Dropout of inference drops nothing. */
const dropout: OnnxOperator = call => {
  const isTraining =
    call.version >= 12 ? call.has(2) && call.numbers(2)[0] !== 0 : call.int('is_test', 1) === 0;
  const ratio = call.version < 12 ? call.float('ratio', 0.5) : call.has(1) ? call.numbers(1)[0] : 0.5;
  if (isTraining && ratio !== 0) call.refuse('drops elements at random: export the model for inference');
  const { shape } = call.input(0);
  const type = call.version < 10 ? call.input(0).type : boolType;
  const emit = (): LogicalTensor => call.draft.op('Constant', [], { value: [1], shape }, type.dtype);
  return [...identity(call), { type, shape, emit }];
};

/** condition ? a : b, all broadcast to one shape. */
const where = elementwise(
  () =>
    (condition = 0, a = Number.NaN, b = Number.NaN) =>
      condition !== 0 ? a : b,
  (draft, [condition, a, b], call) =>
    guardedSoftmax(draft, [condition, a, b] as LogicalTensor[], call) ??
    select(draft, condition as LogicalTensor, a as LogicalTensor, b as LogicalTensor),
  call => call.input(1).type,
);

const gelu: OnnxOperator = elementwise(
  () => x => x ?? Number.NaN,
  (draft, [x], call) =>
    draft.op('GELU', [x as LogicalTensor], {
      mode: call.text('approximate', 'none') === 'tanh' ? 'gelu_tanh' : 'gelu_erf',
    }),
);

/** The same operator without a form in numbers: it is always part of the graph. */
const unfolded =
  (operator: OnnxOperator): OnnxOperator =>
  call =>
    operator(call).map(({ fold: _, ...result }) => result);

/** A function with numbers of its own, by ONNX's names and defaults: alpha, beta. */
const parametric = (kind: string, defaults: Readonly<Record<string, number>>): OnnxOperator =>
  unfolded(
    elementwise(
      () => x => x ?? Number.NaN,
      (draft, [x], call) =>
        draft.op(
          kind,
          [x as LogicalTensor],
          Object.fromEntries(
            Object.entries(defaults).map(([name, standard]) => [name, call.float(name, standard)]),
          ),
        ),
    ),
  );

/** x · sigmoid(alpha · x). */
const swish: OnnxOperator = call => {
  const { type, shape, tensor } = call.input(0);
  const alpha = call.float('alpha', 1);
  const { draft } = call;
  return [
    {
      ...{ type, shape },
      emit: () => {
        const x = tensor();
        if (alpha === 1) return draft.op('SiLU', [x]);
        const gate = draft.op('Sigmoid', [draft.op('Multiply', [x, scalar(draft, alpha, x.dtype)])]);
        return draft.op('Multiply', [x, gate]);
      },
    },
  ];
};

/** Operators that compute each element by itself. */
export const elementwiseOperators: Readonly<Record<string, OnnxOperator>> = {
  Abs: unary('Abs', Math.abs),
  Neg: unary('Neg', x => -x),
  Sqrt: unary('Sqrt', Math.sqrt),
  Exp: unary('Exp', Math.exp),
  Log: unary('Log', Math.log),
  Sin: unary('Sin', Math.sin),
  Cos: unary('Cos', Math.cos),
  Tanh: unary('Tanh', Math.tanh),
  Erf: unfolded(unary('Erf', x => x)),
  Reciprocal: unary('Reciprocal', x => 1 / x),
  Sigmoid: unary('Sigmoid', x => 1 / (1 + Math.exp(-x))),
  Relu: unary('ReLU', x => Math.max(0, x)),
  Softplus: unary('SoftPlus', x => Math.log1p(Math.exp(x))),
  Floor: elementwise(() => x => Math.floor(x ?? Number.NaN), rounded('Greater', 'Subtract')),
  Ceil: elementwise(() => x => Math.ceil(x ?? Number.NaN), rounded('Less', 'Add')),
  Round: unary('Round', x => (Math.abs(x - Math.trunc(x)) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x))),
  Not: elementwise(
    () => x => Number(x === 0),
    (draft, [x]) => draft.op('LogicalNot', [x as LogicalTensor]),
  ),
  Add: binary('Add', (a, b) => a + b),
  Sub: binary('Subtract', (a, b) => a - b),
  Mul: binary('Multiply', (a, b) => a * b),
  Div: binary(quotient, divided),
  Mod: elementwise(
    call =>
      (a = 0, b = 1) =>
        call.flag('fmod', false) ? a % b : a - b * Math.floor(a / b),
    modulo,
  ),
  Pow: elementwise(
    () =>
      (a = 0, b = 1) =>
        a ** b,
    power,
  ),
  Sum: elementwise(
    () =>
      (...all) =>
        all.reduce((a, b) => a + b),
    folded('Add'),
  ),
  Mean: elementwise(
    () =>
      (...all) =>
        all.reduce((a, b) => a + b) / all.length,
    (draft, tensors, call) =>
      arithmetic(draft, 'Divide', [
        folded('Add')(draft, tensors, call),
        scalar(draft, tensors.length, call.input(0).type.dtype),
      ]),
  ),
  Max: elementwise(
    () =>
      (...all) =>
        most(all),
    folded('Maximum'),
  ),
  Min: elementwise(
    () =>
      (...all) =>
        least(all),
    folded('Minimum'),
  ),
  Equal: compare('Equal', (a, b) => a === b),
  Less: compare('Less', (a, b) => a < b),
  LessOrEqual: compare('LessEqual', (a, b) => a <= b),
  Greater: compare('Greater', (a, b) => a > b),
  GreaterOrEqual: compare('GreaterEqual', (a, b) => a >= b),
  And: logic(both, (a, b) => a && b),
  Or: logic(
    (draft, tensors) => draft.op('LogicalOr', tensors, {}, 'bool'),
    (a, b) => a || b,
  ),
  Xor: compare('NotEqual', (a, b) => a !== b),
  IsInf: isInfOperator,
  IsNaN: isNaNOperator,
  Where: where,
  Clip: clip,
  Swish: swish,
  Cast: castOperator(call => {
    const type = typeNumbered(call, call.int('to', 1));
    if (type.kind === 'float' && type.bits === 8 && !call.flag('saturate', true))
      call.refuse(`casts to ${type.name} without saturating; engines saturate`);
    return type;
  }),
  CastLike: castOperator(call => call.input(1).type),
  Dropout: dropout,
  Identity: identity,
  Elu: parametric('Elu', { alpha: 1 }),
  HardSigmoid: parametric('HardSigmoid', { alpha: 0.2, beta: 0.5 }),
  HardSwish: parametric('HardSwish', {}),
  LeakyRelu: parametric('LeakyReLU', { alpha: 0.01 }),
  Mish: parametric('Mish', {}),
  Gelu: unfolded(gelu),
  FastGelu: unfolded(gelu),
};
