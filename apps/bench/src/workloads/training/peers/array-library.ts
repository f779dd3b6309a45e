/** The operations for a training step of a GPT-2, in a library whose arrays have the type X. */
export interface ArrayLibrary<X> {
  /** a·b, or a·bᵀ, over the last two axes. */
  matmul(a: X, b: X, transposeB?: boolean): X;
  add(a: X, b: X | number): X;
  subtract(a: X, b: X): X;
  multiply(a: X, b: X | number): X;
  divide(a: X, b: X): X;
  minimum(a: X, b: number): X;
  sqrt(x: X): X;
  tanh(x: X): X;
  /** The mean over the last axis, which is kept with extent 1. */
  mean(x: X): X;
  /** The sum of all elements. */
  sum(x: X): X;
  /** Along the last axis. */
  softmax(x: X): X;
  logSoftmax(x: X): X;
  reshape(x: X, shape: readonly number[]): X;
  transpose(x: X, order: readonly number[]): X;
  /** `size` elements of the last axis, from `start` on. */
  slice(x: X, start: number, size: number): X;
}
