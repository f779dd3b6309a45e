import { elementCount } from '@tilewise/core';
import { type OnnxOperator, result } from '../../node-call.ts';
import { hostTensor } from '../../value.ts';

/** x / (bias + alpha / size · Σ x²)^beta, with the sum over `size` neighbouring channels. */
export const localResponseNorm: OnnxOperator = call => {
  const { type, shape, tensor } = call.input(0);
  const [B = 1, C = 1, ...image] = shape;
  const size = call.int('size', 1);
  const [alpha, beta, bias] = [call.float('alpha', 1e-4), call.float('beta', 0.75), call.float('bias', 1)];
  const [before, after] = [Math.floor((size - 1) / 2), Math.ceil((size - 1) / 2)];
  const near = hostTensor([C, C], ([c = 0, i = 0]) => (i >= c - before && i <= c + after ? alpha / size : 0));
  return result({ type, shape }, () => {
    const { draft } = call;
    const rows = draft.reshape(tensor(), [B, C, elementCount(image)]);
    const squares = draft.op('Multiply', [rows, rows]);
    const sums = draft.op('MatMul', [call.constant(near, type), squares]);
    const base = draft.op('Add', [sums, draft.scalar(bias, sums.dtype)]);
    return draft.reshape(draft.op('Multiply', [rows, draft.op('Pow', [base], { beta: -beta })]), shape);
  });
};

/** x divided by its norm along an axis; zeros stay zeros. */
export const lpNormalization: OnnxOperator = call => {
  const { type, shape, tensor } = call.input(0);
  const axis = call.axis(call.int('axis', -1), shape.length);
  const p = call.int('p', 2);
  if (p !== 1 && p !== 2) call.fail(`has p = ${p}, which must be 1 or 2`);
  return result({ type, shape }, () => {
    const { draft } = call;
    const x = tensor();
    const norm = draft.op(`ReduceL${p}`, [x], { axes: [axis], keep_dims: true });
    const one = draft.scalar(1, x.dtype);
    const isZero = draft.test('Equal', norm, draft.scalar(0, x.dtype));
    return draft.op('Divide', [x, draft.select(isZero, draft.expand(one, norm.shape ?? []), norm)]);
  });
};
