/** The expressions of mods, in their stored JSON form. */
export type Expression = { readonly kind: string; readonly type: string; readonly [field: string]: unknown };

const variable = (name: string, type: string): Expression => ({ kind: 'variable', type, name });
export const score: Expression = variable('score', 'f32');
export const b: Expression = variable('b', 'i32');
export const h: Expression = variable('h', 'i32');
export const q: Expression = variable('q', 'i32');
export const kv: Expression = variable('kv', 'i32');

export const constant = (value: number): Expression => ({ kind: 'constant', type: 'f32', value });
export const i32 = (value: number): Expression => ({ kind: 'constant', type: 'i32', value });
export const f32 = (a: Expression): Expression => ({ kind: 'unary', type: 'f32', op: 'toF32', a });
export const tanh = (a: Expression): Expression => ({ kind: 'unary', type: 'f32', op: 'tanh', a });

export function binary(op: string, type: string, x: Expression, y: Expression): Expression {
  return { kind: 'binary', type, op, a: x, b: y };
}
export const add = (x: Expression, y: Expression): Expression => binary('add', x.type, x, y);
export const sub = (x: Expression, y: Expression): Expression => binary('sub', x.type, x, y);
export const mul = (x: Expression, y: Expression): Expression => binary('mul', x.type, x, y);
export const modulo = (x: Expression, y: Expression): Expression => binary('mod', 'i32', x, y);
export const clamp = (x: Expression, low: Expression, high: Expression): Expression =>
  binary('max', x.type, low, binary('min', x.type, x, high));

export function load(name: string, index: readonly Expression[], type = 'f32'): Expression {
  return { kind: 'load', type, name, index };
}
