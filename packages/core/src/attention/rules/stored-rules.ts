import { InvalidArgumentError } from '../../errors.ts';
import { checkCaptures, checkExpr } from '../../expr/check.ts';
import type { Expr } from '../../expr/expr.ts';
import { loads } from '../../expr/nodes.ts';
import { sameShape } from '../../tensor/shape.ts';
import {
  type AttentionProblem,
  type BackwardProblem,
  BLOCK_MASK_TILE,
  type BroadcastDesc,
  type OperandDesc,
} from '../problem/problem.ts';
import type { Rule } from './rule.ts';

/**
 * What holds for every problem that `normalise` makes, and what a stored one must therefore keep: its
 * descriptions of tensors agree with its extents.
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
  {
    argument: 'blockMask',
    kind: 'shape',
    broken: p => {
      const tiles = blockMaskShape(p).slice(2);
      return p.blockMask === null || sameShape(p.blockMask.source.slice(-2), tiles)
        ? null
        : `must end in [${tiles}] (tiles, bytes), got shape [${p.blockMask.source}]`;
    },
  },
];

/** What holds for every problem that `normaliseBackward` makes, beside its forward part. */
export const storedBackwardRules: readonly Rule<BackwardProblem>[] = (['dO', 'dq', 'dk', 'dv'] as const).map(
  name => stridesRule(name, p => p[name]),
);

/** Shape of a block mask, broadcast over batch and heads. */
export function blockMaskShape({ B, Hq, Sq, Skv }: AttentionProblem): [number, number, number, number] {
  const tiles = (S: number): number => Math.ceil(S / BLOCK_MASK_TILE);
  return [B, Hq, tiles(Sq), Math.ceil(tiles(Skv) / 8)];
}

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
    {
      argument: name,
      kind: 'shape',
      broken: p =>
        sameShape(p[name].shape, expected(p, p[name]))
          ? null
          : `must have shape [${expected(p, p[name])}] as B, H, S, D, got [${p[name].shape}]`,
    },
    {
      argument: name,
      kind: 'argument',
      broken: ({ [name]: { page, starts } }) =>
        page && (starts !== 'strided' || name === 'q' || name === 'o') ? 'cannot be paged' : null,
    },
    stridesRule(name, p => p[name]),
  ];
}

function broadcastRules(
  argument: string,
  desc: (problem: AttentionProblem) => BroadcastDesc | null,
  target: (problem: AttentionProblem) => readonly number[] = p => [p.B, p.Hq, p.Sq, p.Skv],
): Rule<AttentionProblem>[] {
  return [
    {
      argument,
      kind: 'shape',
      broken: p => {
        const source = desc(p)?.source ?? [];
        const extents = target(p).slice(4 - source.length);
        return source.length <= 4 && source.every((n, d) => n === 1 || n === extents[d])
          ? null
          : `must be broadcastable to [${target(p)}], got shape [${source}]`;
      },
    },
    stridesRule(argument, p => {
      const given = desc(p);
      if (!given) return null;
      const lead = Array.from({ length: 4 - given.source.length }, () => 1);
      return { shape: [...lead, ...given.source], strides: given.strides };
    }),
  ];
}

/** Dimensions of one element have stride 0, so that no engine multiplies what a caller put there. */
function stridesRule<P>(
  argument: string,
  desc: (problem: P) => (Pick<OperandDesc, 'strides'> & { readonly shape: readonly number[] }) | null,
): Rule<P> {
  return {
    argument,
    kind: 'shape',
    broken: p => {
      const { shape = [], strides = [] } = desc(p) ?? {};
      return shape.every((n, d) => n !== 1 || strides[d] === 0)
        ? null
        : `must have stride 0 along dimensions of one element, got strides [${strides}] for [${shape}]`;
    },
  };
}

/**
 * Checks both mods of a problem, and that there are no captured tensors but those that they load.
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
