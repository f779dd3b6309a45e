/** Type of an expression's value. Indices are i32, scores f32. */
export type ExprType = 'f32' | 'i32' | 'bool';

/**
 * The variables that a mod may read: the score at this stage (f32), and the indices of its batch entry, query
 * head, query and key (i32).
 */
export type VariableName = 'score' | 'b' | 'h' | 'q' | 'kv';

/** Functions of f32. */
type FloatOp = 'exp' | 'log' | 'sqrt' | 'tanh' | 'erf' | 'round' | 'sin' | 'cos';

/** Functions of one value that an expression may apply. */
export type UnaryOp = 'neg' | 'abs' | 'not' | 'toF32' | FloatOp;

/** `div` is of f32; `floorDiv` and `mod` are of i32 and round towards −∞. */
export type ArithmeticOp = 'add' | 'sub' | 'mul' | 'div' | 'floorDiv' | 'mod' | 'pow' | 'min' | 'max';

/** Operators that compare two values; the result is a boolean. */
export type ComparisonOp = 'lt' | 'le' | 'gt' | 'ge' | 'eq' | 'ne';

/** Operators between two booleans. */
export type LogicOp = 'and' | 'or';

/** Functions of two values that an expression may apply. */
export type BinaryOp = ArithmeticOp | ComparisonOp | LogicOp;

/** A node of a given kind, with the kind's own fields. */
type Node<Kind extends string, Fields> = Readonly<{ kind: Kind; type: ExprType } & Fields>;

/**
 * A scalar expression as plain data: it can be evaluated, differentiated, serialised and written as WGSL.
 *
 * i32 arithmetic wraps around. A bool constant is 0 or 1. Infinite constants are strings, because JSON has no
 * number for them; `Number(value)` converts both forms.
 */
export type Expr =
  | Node<'constant', { value: number | 'Infinity' | '-Infinity' }>
  | Node<'variable', { name: VariableName }>
  | Node<'unary', { op: UnaryOp; a: Expr }>
  | Node<'binary', { op: BinaryOp; a: Expr; b: Expr }>
  | Node<'select', { condition: Expr; whenTrue: Expr; whenFalse: Expr }>
  | Node<'load', { name: string; index: readonly Expr[] }>;

/** An expression whose value is a number. */
export type NumericExpr = Expr & { readonly type: 'f32' | 'i32' };

/** An expression whose value is a boolean. */
export type BoolExpr = Expr & { readonly type: 'bool' };

/** A read of a captured tensor. */
export type LoadExpr = Extract<Expr, { readonly kind: 'load' }>;

/** An expression of a score or mask, and the tensors that it loads from, by name. */
export interface ModExpr<T> {
  /** The new score (f32), or whether the query sees the key (bool). */
  readonly expr: Expr;
  /** The tensors that `load` reads, by name. Default: none. */
  readonly captures?: Readonly<Record<string, T>>;
}
