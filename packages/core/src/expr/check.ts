import { checkObject, describeValue, InvalidArgumentError, InvalidDTypeError } from '../errors.ts';
import { checkTensor } from '../tensor/checks/check-tensor.ts';
import { dtypeTraits, isDType } from '../tensor/dtype/dtype-traits.ts';
import type { TensorDesc } from '../tensor/tensor.ts';
import { isCaptureName } from './nodes/create-node.ts';
import type { Expr, ExprType, ModExpr } from './nodes/expr.ts';
import { domainOf, type Operation, typeOf, variableType } from './nodes/operators.ts';
import { loads, nodes } from './nodes/walk.ts';

const loadTypes: Readonly<Record<'float' | 'integer' | 'boolean', ExprType>> = {
  float: 'f32',
  integer: 'i32',
  boolean: 'bool',
};

/**
 * Checks a mod: every operator accepts its operands (an expression may come from JSON); the value has the
 * `expected` type (f32 for a score mod, bool for a mask mod); a mask mod does not read the score; and the
 * captures are exactly the tensors that the expression loads, each with the rank of the load and a dtype that
 * it reads (float as f32, integer as i32, bool as bool).
 * @param name the option that errors name.
 * @throws InvalidArgumentError, or InvalidDTypeError for the dtype of a capture.
 */
export function checkMod(name: string, mod: ModExpr<TensorDesc>, expected: 'f32' | 'bool'): void {
  checkObject(name, mod, ' made by scoreMod, maskMod or modOf');
  if (mod.captures !== undefined) checkObject(`${name}.captures`, mod.captures, ' of tensors');
  checkExpr(name, mod.expr, expected);
  checkCaptures(name, mod.expr, mod.captures ?? {});
}

/** The part of `checkMod` that checks the expression alone. */
export function checkExpr(name: string, expr: Expr, expected: 'f32' | 'bool'): void {
  const all = checkedNodes(expr, name);
  if (expr.type !== expected) {
    throw new InvalidArgumentError(name, `must give ${expected}, but its expression gives ${expr.type}`);
  }
  if (expected === 'bool' && all.some(e => e.kind === 'variable' && e.name === 'score')) {
    throw new InvalidArgumentError(name, 'must not depend on the score');
  }
}

/**
 * The nodes of an expression, in the order of `nodes`. Checks each node: operators accept their operands, and
 * the stated types are right.
 * @throws InvalidArgumentError.
 */
export function checkedNodes(expr: Expr, argument?: string): Expr[] {
  return nodes(expr, argument, nodeProblem);
}

/** The rule that a node with valid operands breaks, if any. */
function nodeProblem(e: Expr): string | undefined {
  switch (e.kind) {
    case 'constant':
      return isConstant(e)
        ? undefined
        : `${describeValue(e.value)} is not a constant of type ${describeType(e)}`;
    case 'variable': {
      const type = variableType(e.name);
      if (type === undefined) return `there is no variable ${describeValue(e.name)}`;
      return e.type === type ? undefined : `variable ${e.name} is ${type}, not ${describeType(e)}`;
    }
    case 'unary':
      return operatorProblem(e, e.a.type);
    case 'binary':
      return operatorProblem(e, e.a.type === e.b.type ? e.a.type : `${e.a.type} and ${e.b.type}`);
    case 'select':
      if (e.condition.type !== 'bool') return `select takes a bool condition, got ${e.condition.type}`;
      if (e.whenTrue.type === e.type && e.whenFalse.type === e.type) return undefined;
      return `select of type ${describeType(e)} takes two values of that type, got ${e.whenTrue.type} and ${e.whenFalse.type}`;
    case 'load':
      if (!isCaptureName(e.name)) return `${describeValue(e.name)} cannot be the name of a capture`;
      if (!Object.values(loadTypes).includes(e.type))
        return `load of '${e.name}' cannot give ${describeType(e)}`;
      return e.index.every(i => i.type === 'i32') ? undefined : `load of '${e.name}' takes i32 indices`;
  }
}

function operatorProblem(e: Operation, given: string): string | undefined {
  const takes = domainOf(e);
  if (takes === undefined) return `there is no ${e.kind} operator ${describeValue(e.op)}`;
  const type = typeOf(e);
  if (type === undefined)
    return `${e.op} takes ${e.kind === 'binary' ? 'two of ' : ''}${takes}, got ${given}`;
  return e.type === type ? undefined : `${e.op} of ${given} gives ${type}, not ${describeType(e)}`;
}

/** The type that a node claims to have, which may be any value. */
function describeType({ type }: { readonly type: unknown }): string {
  return typeof type === 'string' ? type : describeValue(type);
}

function isConstant({ type, value }: Extract<Expr, { kind: 'constant' }>): boolean {
  if (type === 'f32') return Number.isFinite(value) || value === 'Infinity' || value === '-Infinity';
  if (type === 'bool') return value === 0 || value === 1;
  return type === 'i32' && typeof value === 'number' && (value | 0) === value;
}

/** The part of `checkMod` that checks the tensors that a valid expression loads. */
export function checkCaptures(
  name: string,
  expr: Expr,
  captures: Readonly<Record<string, TensorDesc>>,
): void {
  const unused = new Set(Object.keys(captures));
  for (const e of loads(expr)) {
    const argument = `${name}.captures.${e.name}`;
    const capture = Object.hasOwn(captures, e.name) ? captures[e.name] : undefined;
    if (capture === undefined) {
      throw new InvalidArgumentError(`${name}.captures`, `must hold '${e.name}', which the expression loads`);
    }
    unused.delete(e.name);
    checkTensor(argument, capture);
    const { dtype, shape } = capture;
    if (!isDType(dtype)) throw new InvalidDTypeError(argument, `has dtype ${describeValue(dtype)}`);
    if (shape.length !== e.index.length) {
      const rule = `has shape [${shape}], but is loaded with ${e.index.length} indices`;
      throw new InvalidArgumentError(argument, rule);
    }
    const type = loadTypes[dtypeTraits[dtype].kind];
    if (type !== e.type) {
      const rule = `is ${dtype}, which is read as ${type}, but it is loaded as ${e.type}`;
      throw new InvalidDTypeError(argument, rule);
    }
  }
  if (unused.size > 0) {
    const rule = `holds '${[...unused].join("', '")}', which the expression does not load`;
    throw new InvalidArgumentError(`${name}.captures`, rule);
  }
}
