import { describeValue, InvalidArgumentError } from '../../errors.ts';
import type {
  BinaryOp,
  BoolExpr,
  ComparisonOp,
  Expr,
  ExprType,
  LogicOp,
  NumericExpr,
  UnaryOp,
} from './expr.ts';
import { binaryFunction, domainOf, type Operation, typeOf, unaryFunction } from './operators.ts';
import { operands } from './walk.ts';

/** An operand of an operator: an expression, or a value that becomes a constant. */
export type Operand = Expr | number | boolean;

const isI32 = (value: number): boolean => (value | 0) === value;

/**
 * A constant; numbers are f32 unless `type` says i32.
 * @throws InvalidArgumentError for NaN, and for an i32 that is not a 32-bit integer.
 */
export function constant(value: number, type?: 'f32' | 'i32'): NumericExpr;
export function constant(value: boolean, type?: 'bool'): BoolExpr;
export function constant(value: number | boolean, type?: ExprType): Expr;
export function constant(value: number | boolean, type?: ExprType): Expr {
  if (typeof value === 'boolean' || type === 'bool') {
    return { kind: 'constant', type: 'bool', value: value ? 1 : 0 };
  }
  if (typeof value !== 'number') {
    const rule = `must be a number or a boolean, got ${describeValue(value)}`;
    throw new InvalidArgumentError('constant', rule);
  }
  if (Number.isNaN(value)) throw new InvalidArgumentError('constant', 'must not be NaN');
  if (type === 'i32') {
    if (!isI32(value)) throw new InvalidArgumentError('constant', `must be a 32-bit integer, got ${value}`);
    return { kind: 'constant', type: 'i32', value: value | 0 };
  }
  if (Number.isFinite(value)) return { kind: 'constant', type: 'f32', value };
  return { kind: 'constant', type: 'f32', value: value > 0 ? 'Infinity' : '-Infinity' };
}

/**
 * Checks that operands are expressions, or values that become constants.
 * @throws InvalidArgumentError naming the operator.
 */
export function checkOperands(op: string, ...operands: readonly unknown[]): void {
  const isOperand = (x: unknown): boolean =>
    typeof x === 'object'
      ? x !== null && 'kind' in x && 'type' in x
      : ['number', 'boolean'].includes(typeof x);
  const wrong = operands.findIndex(x => !isOperand(x));
  if (wrong >= 0) {
    const rule = `takes expressions, numbers and booleans, got ${describeValue(operands[wrong])}`;
    throw new InvalidArgumentError(op, rule);
  }
}

/** The common type of operands: f32 if any is a float, else i32 if any is an i32; numbers alone are f32. */
function commonType(operands: readonly Operand[]): ExprType {
  const types = operands.map(x => {
    if (typeof x === 'boolean') return 'bool';
    if (typeof x === 'number') return isI32(x) ? 'number' : 'f32';
    return x.type;
  });
  if (types.every(t => t === 'bool')) return 'bool';
  if (types.includes('f32')) return 'f32';
  return types.includes('i32') ? 'i32' : 'f32';
}

/** An operand converted to `type` if a number or an i32 can be converted to it; otherwise unchanged. */
function lift(x: Operand, type: ExprType): Expr {
  if (typeof x === 'boolean') return constant(x);
  if (typeof x === 'number') return constant(x, type === 'i32' && isI32(x) ? 'i32' : 'f32');
  return type === 'f32' && x.type === 'i32' ? unary('toF32', x) : x;
}

/** The node or, if all operands are constants, the constant of its value. */
function fold(node: Operation): Expr {
  const given = operands(node);
  const values = given.flatMap(x => (x.kind === 'constant' ? [Number(x.value)] : []));
  if (values.length < given.length) return node;
  const value =
    node.kind === 'unary'
      ? unaryFunction(node.op, node.type)(values[0])
      : binaryFunction(node.op, node.type)(values[0], values[1]);
  return node.type === 'bool' ? constant(value !== 0) : constant(value, node.type);
}

/**
 * A unary operator on an operand; f32 operators convert an i32. On a constant, the result is a constant.
 * @throws InvalidArgumentError if the operator does not accept such an operand.
 */
export function unary(op: 'not', a: Operand): BoolExpr;
export function unary(op: Exclude<UnaryOp, 'not'>, a: Operand): NumericExpr;
export function unary(op: UnaryOp, a: Operand): Expr {
  checkOperands(op, a);
  const domain = domainOf({ kind: 'unary', op });
  const x = lift(a, domain === 'f32' ? 'f32' : commonType([a]));
  if (op === 'toF32' && x.type === 'f32') return x;
  const type = typeOf({ kind: 'unary', op, a: x });
  if (type === undefined) throw new InvalidArgumentError(op, `takes ${domain}, got ${x.type}`);
  return fold({ kind: 'unary', type, op, a: x });
}

/**
 * A binary operator on two operands. A number takes the type of the other operand (f32 if it is not a 32-bit
 * integer). An i32 beside an f32, or under an f32 operator, is converted to f32. On constants, the result is
 * a constant.
 * @throws InvalidArgumentError if the operator does not accept such operands.
 */
export function binary(op: ComparisonOp | LogicOp, a: Operand, b: Operand): BoolExpr;
export function binary(op: Exclude<BinaryOp, ComparisonOp | LogicOp>, a: Operand, b: Operand): NumericExpr;
export function binary(op: BinaryOp, a: Operand, b: Operand): Expr {
  checkOperands(op, a, b);
  const domain = domainOf({ kind: 'binary', op });
  const common = domain === 'f32' || domain === 'i32' ? domain : commonType([a, b]);
  const x = lift(a, common);
  const y = lift(b, common);
  const type = typeOf({ kind: 'binary', op, a: x, b: y });
  if (type === undefined) {
    throw new InvalidArgumentError(op, `takes two of ${domain}, got ${x.type} and ${y.type}`);
  }
  return fold({ kind: 'binary', type, op, a: x, b: y });
}

/**
 * `whenTrue` if `condition` is true, else `whenFalse`; both are converted to a common type like the operands
 * of an operator.
 * @throws InvalidArgumentError if the condition is not a bool, or if the values have no common type.
 */
export function select(
  condition: Operand,
  whenTrue: BoolExpr | boolean,
  whenFalse: BoolExpr | boolean,
): BoolExpr;
export function select(
  condition: Operand,
  whenTrue: NumericExpr | number,
  whenFalse: NumericExpr | number,
): NumericExpr;
export function select(condition: Operand, whenTrue: Operand, whenFalse: Operand): Expr;
export function select(condition: Operand, whenTrue: Operand, whenFalse: Operand): Expr {
  checkOperands('select', condition, whenTrue, whenFalse);
  const c = lift(condition, 'bool');
  if (c.type !== 'bool') throw new InvalidArgumentError('select', `takes a bool condition, got ${c.type}`);
  const common = commonType([whenTrue, whenFalse]);
  const x = lift(whenTrue, common);
  const y = lift(whenFalse, common);
  if (x.type !== y.type) {
    throw new InvalidArgumentError('select', `takes two values of one type, got ${x.type} and ${y.type}`);
  }
  if (c.kind === 'constant') return c.value === 0 ? y : x;
  return { kind: 'select', type: x.type, condition: c, whenTrue: x, whenFalse: y };
}

/**
 * Whether a captured tensor may have this name: a letter, then letters, digits and underscores (it is used in
 * WGSL).
 */
export function isCaptureName(name: string): boolean {
  return typeof name === 'string' && /^[A-Za-z]\w*$/.test(name);
}

/**
 * The element of captured tensor `name` at `index` (one i32 per dimension). A float tensor is read as f32, an
 * integer tensor as i32, a bool tensor as bool. An index outside the tensor is an error on the host; a device
 * clamps it instead.
 * @throws InvalidArgumentError if the name is not an identifier or an index is not an i32.
 */
export function load(name: string, index: readonly Operand[], type?: 'f32' | 'i32'): NumericExpr;
export function load(name: string, index: readonly Operand[], type: 'bool'): BoolExpr;
export function load(name: string, index: readonly Operand[], type: ExprType = 'f32'): Expr {
  if (!isCaptureName(name)) {
    throw new InvalidArgumentError(
      'load',
      `takes the name of a capture, an identifier of letters, digits and _, got ${describeValue(name)}`,
    );
  }
  if (!Array.isArray(index))
    throw new InvalidArgumentError('load', `takes an array of indices, got ${describeValue(index)}`);
  checkOperands('load', ...index);
  const indices = index.map((x, d) => {
    const i = lift(x, 'i32');
    if (i.type !== 'i32') {
      throw new InvalidArgumentError('load', `takes i32 indices, got ${i.type} for index ${d} of '${name}'`);
    }
    return i;
  });
  return { kind: 'load', type, name, index: indices };
}
