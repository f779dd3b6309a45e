import { addProduct, matrix, transposed } from './matrix.ts';
import type { Parameter } from './parameters.ts';

/** y = x·W for x (rows, in) and W (in, out). */
export function linear(x: Float32Array, { value, shape: [inputs, outputs] }: Parameter): Float32Array {
  const rows = x.length / inputs;
  const y = new Float32Array(rows * outputs);
  addProduct(rows, outputs, inputs, matrix(x, inputs), matrix(value, outputs), y);
  return y;
}

/** Adds xᵀ·dy to W's gradient and gives dx = dy·Wᵀ. */
export function linearBackward(
  x: Float32Array,
  { value, gradient, shape: [inputs, outputs] }: Parameter,
  dy: Float32Array,
): Float32Array {
  const rows = x.length / inputs;
  const dx = new Float32Array(x.length);
  addProduct(inputs, outputs, rows, transposed(matrix(x, inputs)), matrix(dy, outputs), gradient);
  addProduct(rows, inputs, outputs, matrix(dy, outputs), transposed(matrix(value, outputs)), dx);
  return dx;
}
