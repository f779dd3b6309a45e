import { checkObject, InvalidArgumentError, InvalidDTypeError } from '../errors.ts';
import { dtypeInfo } from '../tensor/dtype.ts';
import type { TensorDesc } from '../tensor/tensor.ts';
import type { Expr, ExprType } from './expr.ts';
import type { Mod } from './mod.ts';
import { isCaptureName } from './node.ts';
import { loads, nodes, operands } from './nodes.ts';
import { binaryDomain, binaryType, unaryDomain, unaryType, variableType } from './signature.ts';

const loadTypes: Readonly<Record<'float' | 'integer' | 'boolean', ExprType>> = {
  float: 'f32',
  integer: 'i32',
  boolean: 'bool',
};

/**
 * Checks a mod: that every operator takes its operands (an expression may come from JSON), that the value is of
 * `expected` type (f32 of a score mod, bool of a mask mod), that a mask mod does not look at the score, and that the captures
 * are those that are loaded, with their rank and a dtype of the kind that the load reads (float as f32, integer as i32, bool).
 * @param name the option that errors name.
 * @throws InvalidArgumentError, or InvalidDTypeError for the dtype of a capture.
 */
export function checkMod(name: string, mod: Omit<Mod<TensorDesc>, 'tools'>, expected: 'f32' | 'bool'): void {
  checkObject(name, mod, ' made by scoreMod, maskMod or modOf');
  checkExpr(name, mod.expr, expected);
  checkCaptures(name, mod.expr, mod.captures ?? {});
}

/** The part of `checkMod` that is about the expression alone. */
export function checkExpr(name: string, expr: Expr, expected: 'f32' | 'bool'): void {
  const checked = new Set<unknown>();
  const check = (e: unknown): void => {
    if (checked.has(e)) return;
    if (!isNode(e)) throw new InvalidArgumentError(name, notValid(`${JSON.stringify(e)} is no node`));
    for (const operand of operands(e)) check(operand);
    const problem = nodeProblem(e);
    if (problem !== undefined) throw new InvalidArgumentError(name, notValid(problem));
    checked.add(e);
  };
  check(expr);
  if (expr.type !== expected) {
    throw new InvalidArgumentError(name, `must give ${expected}, but its expression gives ${expr.type}`);
  }
  if (expected === 'bool' && nodes(expr).some(e => e.kind === 'variable' && e.name === 'score')) {
    throw new InvalidArgumentError(name, 'must not depend on the score');
  }
}

const notValid = (why: string): string => `is not a valid expression: ${why}`;

/** Whether a value can be asked for its operands, which need not be nodes themselves. */
function isNode(e: unknown): e is Expr {
  if (typeof e !== 'object' || e === null || !('kind' in e)) return false;
  return e.kind !== 'load' || ('index' in e && Array.isArray(e.index));
}

function nodeProblem(e: Expr): string | undefined {
  switch (e.kind) {
    case 'constant':
      return isConstant(e) ? undefined : `${e.value} is no constant of type ${e.type}`;
    case 'variable': {
      const type = variableType(e.name);
      if (type === undefined) return `there is no variable '${e.name}'`;
      return e.type === type ? undefined : `variable ${e.name} is ${type}, not ${e.type}`;
    }
    case 'unary': {
      const domain = unaryDomain(e.op);
      if (domain === undefined) return `there is no unary operator '${e.op}'`;
      const type = unaryType(e.op, e.a.type);
      if (type === undefined) return `${e.op} takes ${domain}, got ${e.a.type}`;
      return e.type === type ? undefined : `${e.op} of ${e.a.type} gives ${type}, not ${e.type}`;
    }
    case 'binary': {
      const domain = binaryDomain(e.op);
      if (domain === undefined) return `there is no binary operator '${e.op}'`;
      const type = binaryType(e.op, e.a.type, e.b.type);
      if (type === undefined) return `${e.op} takes two of ${domain}, got ${e.a.type} and ${e.b.type}`;
      return e.type === type ? undefined : `${e.op} of ${e.a.type} gives ${type}, not ${e.type}`;
    }
    case 'select':
      if (e.condition.type !== 'bool') return `select takes a bool condition, got ${e.condition.type}`;
      if (e.whenTrue.type === e.type && e.whenFalse.type === e.type) return undefined;
      return `select of type ${e.type} takes two values of it, got ${e.whenTrue.type} and ${e.whenFalse.type}`;
    case 'load':
      if (!isCaptureName(e.name)) return `'${e.name}' cannot be the name of a capture`;
      if (!Object.values(loadTypes).includes(e.type)) return `load of '${e.name}' cannot give ${e.type}`;
      return e.index.every(i => i.type === 'i32') ? undefined : `load of '${e.name}' takes i32 indices`;
    default:
      return `${JSON.stringify(e)} is no node`;
  }
}

function isConstant({ type, value }: Extract<Expr, { kind: 'constant' }>): boolean {
  if (type === 'f32') return Number.isFinite(value) || value === 'Infinity' || value === '-Infinity';
  if (type === 'bool') return value === 0 || value === 1;
  return type === 'i32' && typeof value === 'number' && (value | 0) === value;
}

/** The part of `checkMod` that is about the tensors that a valid expression loads. */
export function checkCaptures(
  name: string,
  expr: Expr,
  captures: Readonly<Record<string, TensorDesc>>,
): void {
  const unused = new Set(Object.keys(captures));
  for (const e of loads(expr)) {
    const capture = Object.hasOwn(captures, e.name) ? captures[e.name] : undefined;
    if (capture === undefined) {
      throw new InvalidArgumentError(`${name}.captures`, `must hold '${e.name}', which the expression loads`);
    }
    unused.delete(e.name);
    if (capture.shape.length !== e.index.length) {
      throw new InvalidArgumentError(
        `${name}.captures.${e.name}`,
        `has shape [${capture.shape}], but is loaded with ${e.index.length} indices`,
      );
    }
    const type = loadTypes[dtypeInfo[capture.dtype].kind];
    if (type !== e.type) {
      throw new InvalidDTypeError(
        `${name}.captures.${e.name}`,
        `is ${capture.dtype}, which is read as ${type}, but it is loaded as ${e.type}`,
      );
    }
  }
  if (unused.size > 0) {
    throw new InvalidArgumentError(
      `${name}.captures`,
      `holds '${[...unused].join("', '")}', which the expression does not load`,
    );
  }
}
