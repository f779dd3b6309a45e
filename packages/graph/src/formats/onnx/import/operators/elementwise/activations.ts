import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import type { NodeCall, OnnxOperator } from '../../node-call.ts';
import { arithmetic, cast, scalar, select } from '../emit.ts';
import { elementwise, unary } from './elementwise.ts';

/** Writes an activation with operations on tensors of the dtype of x, and numbers. */
interface Writer {
  op(kind: string, ...inputs: (LogicalTensor | number)[]): LogicalTensor;
  elu(x: LogicalTensor, alpha: number): LogicalTensor;
  select(condition: LogicalTensor, a: LogicalTensor, b: LogicalTensor | number): LogicalTensor;
  less(a: LogicalTensor | number, b: LogicalTensor | number): LogicalTensor;
}

/** An activation that the graph has no operation of its own for. */
const activation =
  (write: (w: Writer, x: LogicalTensor, call: NodeCall) => LogicalTensor): OnnxOperator =>
  call => {
    const { type, shape, tensor } = call.input(0);
    const { draft } = call;
    const emit = (): LogicalTensor => {
      const given = tensor();
      // Bytes and unsigned integers go by i32.
      const x = ['i8', 'u8', 'u32'].includes(given.dtype) ? cast(draft, given, 'i32') : given;
      const own = (operand: LogicalTensor | number): LogicalTensor =>
        typeof operand === 'number' ? scalar(draft, operand, x.dtype) : operand;
      const writer: Writer = {
        op: (kind, ...inputs) => arithmetic(draft, kind, inputs.map(own)),
        elu: (of, alpha) => draft.op('Elu', [of], { alpha }),
        select: (condition, a, b) => select(draft, condition, a, own(b)),
        less: (a, b) => draft.op('Less', [own(a), own(b)], {}, 'bool'),
      };
      return cast(draft, write(writer, x, call), type.dtype);
    };
    return [{ type, shape, emit }];
  };

const gelu: OnnxOperator = elementwise(
  () => x => x ?? Number.NaN,
  (draft, [x], call) =>
    draft.op('GELU', [x as LogicalTensor], {
      mode: call.text('approximate', 'none') === 'tanh' ? 'gelu_tanh' : 'gelu_erf',
    }),
);

/** The operator without a form in numbers: its node is always part of the graph. */
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

/** Activations, by their formulas in ONNX. */
export const activationOperators: Readonly<Record<string, OnnxOperator>> = {
  Swish: swish,
  Elu: parametric('Elu', { alpha: 1 }),
  HardSigmoid: parametric('HardSigmoid', { alpha: 0.2, beta: 0.5 }),
  HardSwish: parametric('HardSwish', {}),
  LeakyRelu: parametric('LeakyReLU', { alpha: 0.01 }),
  Mish: parametric('Mish', {}),
  Gelu: unfolded(gelu),
  FastGelu: unfolded(gelu),
  Erf: unfolded(unary('Erf', x => x)),
  Celu: activation((w, x, call) => {
    const alpha = call.float('alpha', 1);
    return w.op('Multiply', w.elu(w.op('Divide', x, alpha), 1), alpha);
  }),
  PRelu: activation((w, x, call) => {
    const slope = call.input(1).tensor();
    return w.select(w.less(x, 0), w.op('Multiply', x, cast(call.draft, slope, x.dtype)), x);
  }),
  Selu: activation((w, x, call) => {
    const [alpha, gamma] = [call.float('alpha', 1.6732632), call.float('gamma', 1.0507009)];
    return w.op('Multiply', w.elu(x, alpha), gamma);
  }),
  Sign: activation((w, x, { draft }) => {
    const [above, below] = [w.less(0, x), w.less(x, 0)].map(t => cast(draft, t, x.dtype));
    return w.op('Subtract', above as LogicalTensor, below as LogicalTensor);
  }),
  Softsign: activation((w, x) => w.op('Divide', x, w.op('Add', w.op('Abs', x), 1))),
  ThresholdedRelu: activation((w, x, call) => w.select(w.less(call.float('alpha', 1), x), x, 0)),
};
