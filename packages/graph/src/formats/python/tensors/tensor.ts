import { type DType, dtypeInfo } from '@tilewise/core';
import type { ExprType } from '@tilewise/core/expr';
import { exprType } from '../../../ir/program/expr.ts';
import type { ProgramValue } from '../../../ir/program/program.ts';
import { type Axis, ExportError, extentOf, factorList, isSharded, type Role, sameAxis } from './axes.ts';
import type { Dialect } from './dialect.ts';
import { ATOM, atom, type PythonExpr, within } from './expression.ts';

/** A tensor of the model under construction. */
export interface PyTensor {
  readonly code: string;
  readonly axes: readonly Axis[];
  /** Whether the tensor is a share: the shares of the ranks with the same part add up to the actual part. */
  readonly isShare?: boolean;
  /** The number of all elements, if the tensor is one known number. */
  readonly value?: number;
  /** Draws random numbers for the part of the tensor with these axes. */
  readonly draw?: (axes: readonly Axis[]) => string;
}

/** The lines of Python that have been written, and the tensors of the graph in Python. */
export interface ModelLines {
  readonly dialect: Dialect;
  /** The roles along which ranks may be placed. */
  readonly roles: readonly Role[];
  line(text: string): void;
  /** Writes a call, on as many lines as necessary. */
  call(start: string, args: readonly string[]): void;
  /** An unused name. */
  name(): string;
  /** A tensor of the graph: an input, a parameter, a constant or an earlier result. */
  tensor(id: number): PyTensor;
  setTensor(id: number, tensor: PyTensor): void;
  /** A constant inside the graph, as code. */
  constant(value: Extract<ProgramValue, { kind: 'constant' }>): PyTensor;
}

/** A tensor with its numbers: draws them if they are random. */
export function drawn(tensor: PyTensor): PyTensor {
  return tensor.draw ? { ...tensor, code: tensor.draw(tensor.axes) } : tensor;
}

/** A tensor. None of its axes, or none of the given ones, may be sharded. */
export function unshardedAlong(tensor: PyTensor, what: string, axes?: readonly number[]): PyTensor {
  const d = tensor.axes.findIndex((axis, n) => isSharded(axis) && (axes?.includes(n) ?? true));
  if (d >= 0)
    throw new ExportError(`${what} along axis ${d}, which is sharded: ${factorList(tensor.axes[d])}`);
  if (tensor.isShare) throw new ExportError(`${what} of a sum over ranks`);
  return drawn(tensor);
}

/** The part of a tensor that broadcasts to axes. */
export function aligned(tensor: PyTensor, axes: readonly Axis[]): PyTensor {
  const lead = axes.length - tensor.axes.length;
  if (tensor.draw) {
    const own = tensor.axes.map((axis, d) => (extentOf(axis) > 1 ? axes[lead + d] : axis));
    return { code: tensor.draw(own), axes: own };
  }
  let { code } = tensor;
  const own = tensor.axes.map((axis, d) => {
    const wanted = axes[lead + d];
    if (extentOf(axis) <= 1 || sameAxis(axis, wanted) || !isSharded(wanted)) return axis;
    if (isSharded(axis))
      throw new ExportError(`has operands that are sharded in different ways along axis ${lead + d}`);
    code = `place.cut(${code}, ${d}, ${factorList(wanted)})`;
    return wanted;
  });
  return { ...tensor, code, axes: own };
}

/** A Python tuple. */
export function tuple(items: readonly string[]): string {
  return items.length === 1 ? `(${items[0]},)` : `(${items.join(', ')})`;
}

/** Axes as a tuple of tuples of factors. */
export function axesTuple(axes: readonly Axis[]): string {
  return tuple(axes.map(axis => `(${factorList(axis)},)`));
}

/** Converts an element of a dtype to the type that expressions compute with. */
export function loaded(dialect: Dialect, code: string, dtype: DType): string {
  const { kind } = dtypeInfo[dtype];
  if (kind === 'float') return dtype === 'f32' ? code : dialect.cast(code, 'f32');
  return kind === 'integer' && dtype !== 'i32' ? dialect.cast(code, 'i32') : code;
}

/** Converts the result of an expression to a dtype. */
export function stored(dialect: Dialect, e: PythonExpr, type: ExprType, dtype: DType): PythonExpr {
  if (exprType(dtype) === type && (dtype === 'f32' || dtype === 'i32' || dtype === 'bool')) return e;
  const isNarrow = dtype === 'i8' || dtype === 'u8' || dtype.startsWith('f8');
  const saturates = type !== 'bool' && (isNarrow || (type === 'f32' && dtypeInfo[dtype].kind === 'integer'));
  return atom(
    saturates ? `saturated(${e.code}, ${dialect.dtype(dtype)})` : dialect.cast(within(e, ATOM), dtype),
  );
}
