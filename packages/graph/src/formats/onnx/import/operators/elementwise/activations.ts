import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../../ir/tensor/shape.ts';
import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import { elementwise, same } from './elementwise.ts';

type Operand = LogicalTensor | number;

/** Writes the operations of an activation, whose operands are numbers and tensors of x's dtype. */
interface Writer {
  op(kind: string, ...inputs: Operand[]): LogicalTensor;
  elu(x: LogicalTensor, alpha: number): LogicalTensor;
  select(condition: LogicalTensor, a: Operand, b: Operand): LogicalTensor;
  less(a: Operand, b: Operand): LogicalTensor;
}

/** An activation for which the graph has no operation. */
const activation =
  (write: (w: Writer, x: LogicalTensor, call: NodeCall) => LogicalTensor): OnnxOperator =>
  call => {
    const { type, shape, tensor } = call.input(0);
    const { draft } = call;
    return result({ type, shape }, () => {
      const x = tensor();
      const own = (operand: Operand): LogicalTensor =>
        typeof operand === 'number' ? draft.scalar(operand, x.dtype) : operand;
      const writer: Writer = {
        op: (kind, ...inputs) => draft.op(kind, inputs.map(own)),
        elu: (of, alpha) => draft.op('Elu', [of], { alpha }),
        select: (condition, a, b) => draft.select(condition, own(a), own(b)),
        less: (a, b) => draft.test('Less', own(a), own(b)),
      };
      return write(writer, x, call);
    });
  };

const gelu: OnnxOperator = elementwise(1, null, (draft, [x], call) =>
  draft.op('GELU', [x], {
    mode: call.text('approximate', 'none') === 'tanh' ? 'gelu_tanh' : 'gelu_erf',
  }),
);

/** A function with parameters, which have ONNX's names and defaults: alpha, beta. */
const parametric = (kind: string, defaults: Readonly<Record<string, number>>): OnnxOperator =>
  elementwise(1, null, (draft, [x], call) => {
    const given = Object.entries(defaults).map(([name, standard]) => [name, call.float(name, standard)]);
    return draft.op(kind, [x], Object.fromEntries(given));
  });

/** x · sigmoid(alpha · x). `standard` is the default of alpha. */
export const swish = (standard: number): OnnxOperator =>
  elementwise(1, null, (draft, [x], call) => {
    const alpha = call.float('alpha', standard);
    if (alpha === 1) return draft.op('SiLU', [x]);
    const gate = draft.op('Sigmoid', [draft.op('Multiply', [x, draft.scalar(alpha, x.dtype)])]);
    return draft.op('Multiply', [x, gate]);
  });

/** Activations, by their formulas in ONNX. */
export const activationOperators: Readonly<Record<string, OnnxOperator>> = {
  Swish: swish(1),
  Elu: parametric('Elu', { alpha: 1 }),
  HardSigmoid: parametric('HardSigmoid', { alpha: 0.2, beta: 0.5 }),
  HardSwish: parametric('HardSwish', {}),
  LeakyRelu: parametric('LeakyReLU', { alpha: 0.01 }),
  Mish: parametric('Mish', {}),
  Gelu: gelu,
  FastGelu: gelu,
  Erf: elementwise(1, null, same('Erf')),
  Celu: activation((w, x, call) => {
    const alpha = call.float('alpha', 1);
    return w.op('Multiply', w.elu(w.op('Divide', x, alpha), 1), alpha);
  }),
  PRelu: activation((w, x, call) => {
    const own = call.input(1).tensor();
    // Before version 7, the slopes are a list with one slope per channel.
    const slope = call.version < 7 ? call.draft.channels(own, shapeOf(x).length) : own;
    return w.select(w.less(x, 0), w.op('Multiply', x, call.draft.cast(slope, x.dtype)), x);
  }),
  Selu: activation((w, x, call) => {
    const [alpha, gamma] = [call.float('alpha', 1.6732632), call.float('gamma', 1.0507009)];
    return w.op('Multiply', w.elu(x, alpha), gamma);
  }),
  // 0 and NaN remain unchanged.
  Sign: activation((w, x) => w.select(w.less(0, x), 1, w.select(w.less(x, 0), -1, x))),
  Softsign: activation((w, x) => w.op('Divide', x, w.op('Add', w.op('Abs', x), 1))),
  ThresholdedRelu: activation((w, x, call) => w.select(w.less(call.float('alpha', 1), x), x, 0)),
};
