import { checkObject, InvalidArgumentError, InvalidShapeError } from '../../errors.ts';
import { checkTensor } from '../../tensor/checks/check-tensor.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { abs, and, eq, ge, le, load, lt, mod, or, sub } from '../build.ts';
import type { BoolExpr, Expr, NumericExpr } from '../nodes/expr.ts';
import { type MaskModVariables, type Mod, maskMod } from './mod.ts';

/** Each query sees the keys up to its own position (top-left causal). */
export function causalMask(): Mod<never> {
  return maskMod(({ q, kv }) => ge(q, kv));
}

/**
 * Each query sees the key at its own position, `left` keys before it and `right` keys after it.
 * @throws InvalidArgumentError unless both are non-negative integers.
 */
export function slidingWindowMask(window: { readonly left: number; readonly right: number }): Mod<never> {
  checkObject('window', window);
  checkCount('left', window.left, 0);
  checkCount('right', window.right, 0);
  return maskMod(({ q, kv }) => and(ge(kv, sub(q, window.left)), le(sub(kv, window.right), q)));
}

/**
 * Causal, except that every query sees the first `length` keys. `length` is a number for all sequences, or
 * i32 (B), loaded as `prefixLengths`.
 * @throws InvalidArgumentError for a negative length; InvalidShapeError for lengths that are not of rank 1.
 */
export function prefixLmMask(length: number): Mod<never>;
export function prefixLmMask<T extends TensorDesc>(length: T): Mod<T>;
export function prefixLmMask<T extends TensorDesc>(length: number | T): Mod<T> {
  const mask = ({ q, kv }: MaskModVariables, prefix: NumericExpr | number) => or(lt(kv, prefix), ge(q, kv));
  if (typeof length === 'number') {
    checkCount('length', length, 0);
    return maskMod(variables => mask(variables, length));
  }
  checkTensor('length', length);
  if (length.shape.length !== 1) {
    throw new InvalidShapeError('length', `must have shape (B), got [${length.shape}]`);
  }
  return maskMod(variables => mask(variables, load('prefixLengths', [variables.b], 'i32')), {
    prefixLengths: length,
  });
}

/**
 * Each query sees the keys of its own document, which have the same id. `ids` are i32 (S), or i32 (B, S) if
 * sequences differ, and are loaded as `name`. Needs Sq = Skv.
 * @throws InvalidShapeError if ids have another rank.
 */
export function documentMask<T extends TensorDesc>(ids: T, name = 'documentIds'): Mod<T> {
  checkTensor('ids', ids);
  const rank = ids.shape.length;
  if (rank !== 1 && rank !== 2) {
    throw new InvalidShapeError('ids', `must have shape (S) or (B, S), got [${ids.shape}]`);
  }
  const at = (b: NumericExpr, s: NumericExpr) => load(name, rank === 1 ? [s] : [b, s], 'i32');
  return maskMod(({ b, q, kv }) => eq(at(b, q), at(b, kv)), { [name]: ids });
}

/**
 * Each query sees every `dilation`-th key in both directions, counted from its own position, and at most
 * `reach` such keys on each side.
 * @throws InvalidArgumentError unless dilation ≥ 1 and reach ≥ 0 are integers.
 */
export function dilatedMask(dilation: number, reach?: number): Mod<never> {
  checkCount('dilation', dilation, 1);
  if (reach !== undefined) checkCount('reach', reach, 0);
  return maskMod(({ q, kv }) => {
    const inStep = eq(mod(sub(q, kv), dilation), 0);
    return reach === undefined ? inStep : and(inStep, le(abs(sub(q, kv)), reach * dilation));
  });
}

/**
 * Shows the pairs that all masks show; without masks, every pair.
 * @throws InvalidArgumentError if two masks load different tensors by the same name, or if a mod is not a
 * mask mod.
 */
export function andMasks<T>(...masks: readonly Mod<T>[]): Mod<T> {
  return join(masks, and);
}

/**
 * Shows the pairs that any of the masks shows; without masks, no pair.
 * @throws InvalidArgumentError if two masks load different tensors by the same name, or if a mod is not a
 * mask mod.
 */
export function orMasks<T>(...masks: readonly Mod<T>[]): Mod<T> {
  return join(masks, or);
}

function join<T>(masks: readonly Mod<T>[], operator: (...terms: BoolExpr[]) => BoolExpr): Mod<T> {
  const captures: Record<string, T> = {};
  for (const [n, mask] of masks.entries()) {
    checkObject(`masks[${n}]`, mask, ' made by maskMod');
    checkObject(`masks[${n}].expr`, mask.expr);
    for (const [name, tensor] of Object.entries(mask.captures ?? {})) {
      if (Object.hasOwn(captures, name) && captures[name] !== tensor) {
        const rule = `load different tensors by the name '${name}'; give one of them another name`;
        throw new InvalidArgumentError('masks', rule);
      }
      captures[name] = tensor;
    }
  }
  const terms = masks.map((mask, n) => {
    if (!isBool(mask.expr)) {
      throw new InvalidArgumentError(`masks[${n}]`, `must give bool, but gives ${mask.expr.type}`);
    }
    return mask.expr;
  });
  const build = () => operator(...terms);
  return Object.keys(captures).length === 0 ? maskMod(build) : maskMod(build, captures);
}

function isBool(e: Expr): e is BoolExpr {
  return e.type === 'bool';
}

function checkCount(name: string, value: number, least: 0 | 1): void {
  if (!Number.isInteger(value) || value < least) {
    throw new InvalidArgumentError(name, `must be an integer of at least ${least}, got ${value}`);
  }
}
