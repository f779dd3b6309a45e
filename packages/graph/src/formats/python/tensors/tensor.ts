import { type DType, dtypeInfo } from '@tilewise/core';
import type { ExprType } from '@tilewise/core/expr';
import { exprType } from '../../../ir/program/expr.ts';
import type { ProgramValue } from '../../../ir/program/program.ts';
import { type Axis, CutError, extentOf, factorList, isCut, sameAxis } from './axes.ts';
import type { Dialect } from './dialect.ts';
import { ATOM, atom, type PythonExpr, within } from './expression.ts';

/** A tensor of the model under construction. */
export interface PyTensor {
  readonly code: string;
  readonly axes: readonly Axis[];
  /** Whether each rank has a share, of which the sum over ranks is meant. */
  readonly isShare?: boolean;
  /** The one number that it is, where that is known. */
  readonly value?: number;
  /** Random numbers, which are drawn for the part that is wanted. */
  readonly draw?: (axes: readonly Axis[]) => string;
}

/** Where lines of Python go, and what the tensors of the graph are there. */
export interface ModelLines {
  readonly dialect: Dialect;
  line(text: string): void;
  /** A call, on as many lines as it takes. */
  call(start: string, args: readonly string[]): void;
  /** A name that nothing has. */
  name(): string;
  /** A tensor of the graph that was computed before, an input, a parameter or a constant. */
  tensor(id: number): PyTensor;
  setTensor(id: number, tensor: PyTensor): void;
  /** A constant of the graph's own, as code. */
  constant(value: Extract<ProgramValue, { kind: 'constant' }>): PyTensor;
}

/** A tensor as numbers: random ones are drawn. */
export function drawn(tensor: PyTensor): PyTensor {
  return tensor.draw ? { ...tensor, code: tensor.draw(tensor.axes) } : tensor;
}

/** A tensor of which no axis, or none of some axes, may be cut. */
export function wholeAlong(tensor: PyTensor, what: string, axes?: readonly number[]): PyTensor {
  const d = tensor.axes.findIndex((axis, n) => isCut(axis) && (axes?.includes(n) ?? true));
  if (d >= 0) throw new CutError(`${what} along axis ${d}, which is cut: ${factorList(tensor.axes[d])}`);
  if (tensor.isShare) throw new CutError(`${what} of a sum over ranks`);
  return drawn(tensor);
}

/** The part of a tensor that goes with axes, to which it broadcasts. */
export function aligned(tensor: PyTensor, axes: readonly Axis[]): PyTensor {
  const lead = axes.length - tensor.axes.length;
  if (tensor.draw) {
    const own = tensor.axes.map((axis, d) => (extentOf(axis) > 1 ? axes[lead + d] : axis));
    return { code: tensor.draw(own), axes: own };
  }
  let { code } = tensor;
  const own = tensor.axes.map((axis, d) => {
    const wanted = axes[lead + d];
    if (extentOf(axis) <= 1 || sameAxis(axis, wanted) || !isCut(wanted)) return axis;
    if (isCut(axis)) throw new CutError(`has operands that are cut in different ways along axis ${lead + d}`);
    code = `place.cut(${code}, ${d}, ${factorList(wanted)})`;
    return wanted;
  });
  return { ...tensor, code, axes: own };
}

/** A tuple of Python. */
export function tuple(items: readonly string[]): string {
  return items.length === 1 ? `(${items[0]},)` : `(${items.join(', ')})`;
}

/** Axes as a tuple of tuples of factors. */
export function axesTuple(axes: readonly Axis[]): string {
  return tuple(axes.map(axis => `(${factorList(axis)},)`));
}

/** An element of a dtype as expressions compute with it. */
export function loaded(dialect: Dialect, code: string, dtype: DType): string {
  const { kind } = dtypeInfo[dtype];
  if (kind === 'float') return dtype === 'f32' ? code : dialect.cast(code, 'f32');
  return kind === 'integer' && dtype !== 'i32' ? dialect.cast(code, 'i32') : code;
}

/** A result of an expression in a dtype. */
export function stored(dialect: Dialect, e: PythonExpr, type: ExprType, dtype: DType): PythonExpr {
  if (exprType(dtype) === type && (dtype === 'f32' || dtype === 'i32' || dtype === 'bool')) return e;
  const isNarrow = type === 'f32' && (dtypeInfo[dtype].kind === 'integer' || dtype.startsWith('f8'));
  return atom(
    isNarrow ? `saturated(${e.code}, ${dialect.dtype(dtype)})` : dialect.cast(within(e, ATOM), dtype),
  );
}
