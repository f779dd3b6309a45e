import type { BinaryOp, ExprType, UnaryOp, VariableName } from './expr.ts';

const variableTypes: Readonly<Record<VariableName, ExprType>> = {
  score: 'f32',
  b: 'i32',
  h: 'i32',
  q: 'i32',
  kv: 'i32',
};

/** What the operands of an operator must be; of two operands, both the same. */
type Domain = 'f32' | 'i32' | 'number' | 'bool' | 'i32 or bool' | 'any type';

/** `same`: the type of the operands. */
interface Signature {
  readonly takes: Domain;
  readonly gives: ExprType | 'same';
}

const unarySignatures: Readonly<Record<UnaryOp, Signature>> = {
  neg: { takes: 'number', gives: 'same' },
  abs: { takes: 'number', gives: 'same' },
  exp: { takes: 'f32', gives: 'f32' },
  log: { takes: 'f32', gives: 'f32' },
  sqrt: { takes: 'f32', gives: 'f32' },
  tanh: { takes: 'f32', gives: 'f32' },
  erf: { takes: 'f32', gives: 'f32' },
  round: { takes: 'f32', gives: 'f32' },
  sin: { takes: 'f32', gives: 'f32' },
  cos: { takes: 'f32', gives: 'f32' },
  not: { takes: 'bool', gives: 'bool' },
  toF32: { takes: 'i32 or bool', gives: 'f32' },
};

const binarySignatures: Readonly<Record<BinaryOp, Signature>> = {
  add: { takes: 'number', gives: 'same' },
  sub: { takes: 'number', gives: 'same' },
  mul: { takes: 'number', gives: 'same' },
  div: { takes: 'f32', gives: 'f32' },
  floorDiv: { takes: 'i32', gives: 'i32' },
  mod: { takes: 'i32', gives: 'i32' },
  pow: { takes: 'f32', gives: 'f32' },
  min: { takes: 'number', gives: 'same' },
  max: { takes: 'number', gives: 'same' },
  lt: { takes: 'number', gives: 'bool' },
  le: { takes: 'number', gives: 'bool' },
  gt: { takes: 'number', gives: 'bool' },
  ge: { takes: 'number', gives: 'bool' },
  eq: { takes: 'any type', gives: 'bool' },
  ne: { takes: 'any type', gives: 'bool' },
  and: { takes: 'bool', gives: 'bool' },
  or: { takes: 'bool', gives: 'bool' },
};

function admits(domain: Domain, type: ExprType): boolean {
  if (domain === 'any type') return true;
  if (domain === 'number') return type !== 'bool';
  if (domain === 'i32 or bool') return type !== 'f32';
  return domain === type;
}

/** Type of a variable; undefined for a name that is none. */
export function variableType(name: string): ExprType | undefined {
  return Object.hasOwn(variableTypes, name) ? variableTypes[name as VariableName] : undefined;
}

/** What a unary operator takes, in words; undefined for a name that is none. */
export function unaryDomain(op: string): Domain | undefined {
  return Object.hasOwn(unarySignatures, op) ? unarySignatures[op as UnaryOp].takes : undefined;
}

/** What a binary operator takes, in words; undefined for a name that is none. */
export function binaryDomain(op: string): Domain | undefined {
  return Object.hasOwn(binarySignatures, op) ? binarySignatures[op as BinaryOp].takes : undefined;
}

/** Type of `op a`, without conversions; undefined when `op` does not take `a`. */
export function unaryType(op: UnaryOp, a: ExprType): ExprType | undefined {
  const { takes, gives } = unarySignatures[op];
  if (!admits(takes, a)) return undefined;
  return gives === 'same' ? a : gives;
}

/** Type of `a op b`, without conversions; undefined when `op` does not take them. */
export function binaryType(op: BinaryOp, a: ExprType, b: ExprType): ExprType | undefined {
  const { takes, gives } = binarySignatures[op];
  if (a !== b || !admits(takes, a)) return undefined;
  return gives === 'same' ? a : gives;
}
