import { InvalidArgumentError } from '../../errors.ts';
import { checkCaptures, checkExpr } from '../../expr/check.ts';
import type { Expr } from '../../expr/nodes/expr.ts';
import { loads } from '../../expr/nodes/walk.ts';
import { sameShape } from '../../tensor/shape.ts';
import { blockMaskShape } from '../problem/describe.ts';
import type { AttentionProblem, BackwardProblem, BroadcastDesc, OperandDesc } from '../problem/problem.ts';
import { argumentRule, type Rule, shapeRule, unless } from './rule.ts';

/**
 * The rules that every problem from `normalise` obeys, and that a stored problem must therefore obey: its
 * tensor descriptions agree with its extents.
 */
export const storedRules: readonly Rule<AttentionProblem>[] = [
  ...operandRules('q', p => [p.B, p.Hq, p.Sq, p.Dqk]),
  ...operandRules('k', p => [p.B, p.Hk, p.Skv, p.Dqk]),
  ...operandRules('v', p => [p.B, p.Hv, p.Skv, p.Dv]),
  ...operandRules('o', p => [p.B, p.Hq, p.Sq, p.Dv]),
  ...broadcastRules('bias', p => p.bias),
  ...broadcastRules('mask', p => p.mask),
  ...broadcastRules('dropout.mask', p => (p.dropout?.kind === 'mask' ? p.dropout.mask : null)),
  ...broadcastRules('blockMask', p => p.blockMask, blockMaskShape),
];

/** The rules that every problem from `normaliseBackward` obeys, besides those of its forward part. */
export const storedBackwardRules: readonly Rule<BackwardProblem>[] = (['dO', 'dq', 'dk', 'dv'] as const).map(
  name => stridesRule(name, p => p[name]),
);

function operandRules(
  name: 'q' | 'k' | 'v' | 'o',
  dense: (problem: AttentionProblem) => readonly number[],
): Rule<AttentionProblem>[] {
  const expected = (problem: AttentionProblem, { shape, starts, page }: OperandDesc): readonly number[] => {
    const [B, H, S, D] = dense(problem);
    if (page && (name === 'k' || name === 'v')) return [shape[0], H, page.size, D];
    return starts === 'strided' ? [B, H, S, D] : [1, H, shape[2], D];
  };
  return [
    shapeRule(name, p =>
      unless(
        sameShape(p[name].shape, expected(p, p[name])),
        `must have shape [${expected(p, p[name])}] as B, H, S, D, got [${p[name].shape}]`,
      ),
    ),
    argumentRule(name, ({ [name]: { page, starts } }) =>
      unless(!page || (starts === 'strided' && (name === 'k' || name === 'v')), 'cannot be paged'),
    ),
    stridesRule(name, p => p[name]),
  ];
}

function broadcastRules(
  argument: string,
  desc: (problem: AttentionProblem) => BroadcastDesc | null,
  target: (problem: AttentionProblem) => readonly number[] = p => [p.B, p.Hq, p.Sq, p.Skv],
): Rule<AttentionProblem>[] {
  return [
    shapeRule(argument, p => {
      const source = desc(p)?.source ?? [];
      const extents = target(p).slice(4 - source.length);
      return unless(
        source.length <= 4 && source.every((n, d) => n === 1 || n === extents[d]),
        `must be broadcastable to [${target(p)}], got shape [${source}]`,
      );
    }),
    stridesRule(argument, p => {
      const given = desc(p);
      if (!given) return null;
      const lead = Array.from({ length: 4 - given.source.length }, () => 1);
      return { shape: [...lead, ...given.source], strides: given.strides };
    }),
  ];
}

/**
 * Dimensions of size 1 must have stride 0, so that no engine multiplies by an arbitrary stride of the caller.
 */
function stridesRule<P>(
  argument: string,
  desc: (problem: P) => (Pick<OperandDesc, 'strides'> & { readonly shape: readonly number[] }) | null,
): Rule<P> {
  return shapeRule(argument, p => {
    const { shape = [], strides = [] } = desc(p) ?? {};
    return unless(
      shape.every((n, d) => n !== 1 || strides[d] === 0),
      `must have stride 0 along dimensions of one element, got strides [${strides}] for [${shape}]`,
    );
  });
}

/**
 * Checks both mods of a problem, and that the captured tensors are exactly those that the mods load.
 * @throws as `checkMod`.
 */
export function checkProblemMods({ scoreMod, maskMod, captures }: AttentionProblem): void {
  const loaded = new Set([
    ...(scoreMod ? checkProblemMod('scoreMod', scoreMod, captures, 'f32') : []),
    ...(maskMod ? checkProblemMod('maskMod', maskMod, captures, 'bool') : []),
  ]);
  const unused = Object.keys(captures).find(name => !loaded.has(name));
  if (unused !== undefined)
    throw new InvalidArgumentError('captures', `holds '${unused}', which no mod loads`);
}

/** The names of the captured tensors that a mod loads. */
function checkProblemMod(
  name: string,
  expr: Expr,
  captures: AttentionProblem['captures'],
  expected: 'f32' | 'bool',
): ReadonlySet<string> {
  checkExpr(name, expr, expected);
  const names = new Set(loads(expr).map(load => load.name));
  const loaded = Object.entries(captures).filter(([capture]) => names.has(capture));
  checkCaptures(name, expr, Object.fromEntries(loaded));
  return names;
}
