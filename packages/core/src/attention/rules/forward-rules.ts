import { lengthsMissing } from '../options/sequences.ts';
import type { AttentionProblem, OperandDesc } from '../problem/problem.ts';
import { maxExtent, maxHeads } from '../problem/problem.ts';
import { fp8ForwardRules } from './fp8-rules.ts';
import { checkForwardProblem } from './problem-schema.ts';
import { checkRules, dtypeRule, type Rule, type RuleKind } from './rule.ts';
import { checkProblemMods, storedRules } from './stored-rules.ts';

const positive = (n: number): boolean => Number.isInteger(n) && n >= 1;

/** The rule that a batch is not too large, checked before anything is allocated for each of its entries. */
export const batchRule: Rule<Pick<AttentionProblem, 'B' | 'Hq'>> = {
  argument: 'q',
  kind: 'shape',
  broken: ({ B, Hq }) =>
    B * Math.max(Hq, 1) <= maxHeads ? null : `must have B · Hq ≤ ${maxHeads}, got ${B} · ${Hq}`,
};

/**
 * Every rule of a forward problem, in the order of the options. They follow from the mathematics or from how data lies in
 * memory; limits of one machine are the engine's and are said by its `checkSupport`. Those of FP8 are `fp8ForwardRules`.
 */
export const forwardRules: readonly Rule<AttentionProblem>[] = [
  batchRule,
  {
    argument: 'q',
    kind: 'shape',
    broken: ({ B, Hq, Sq }) =>
      B * Hq * Sq <= maxExtent ? null : `must have B · Hq · Sq ≤ ${maxExtent}, got ${B} · ${Hq} · ${Sq}`,
  },
  dtypeRule('q', 'q', p => p.q.dtype),
  dtypeRule('k', 'k', p => p.k.dtype),
  dtypeRule('v', 'v', p => p.v.dtype),
  dtypeRule('outDType', 'o', p => p.o.dtype),
  {
    argument: 'q',
    kind: 'shape',
    broken: p =>
      positive(p.Hq) && positive(p.Dqk)
        ? null
        : `must have at least one head and one channel, got Hq = ${p.Hq}, Dqk = ${p.Dqk}`,
  },
  {
    argument: 'k',
    kind: 'shape',
    broken: p =>
      p.k.shape[3] === p.Dqk ? null : `must have the head size of q (${p.Dqk}), got ${p.k.shape[3]}`,
  },
  ...(
    [
      ['k', 'Hk'],
      ['v', 'Hv'],
    ] as const
  ).map(
    ([argument, H]): Rule<AttentionProblem> => ({
      argument,
      kind: 'shape',
      broken: p =>
        p[H] >= 1 && p.Hq % p[H] === 0
          ? null
          : `must have a number of heads that divides q's ${p.Hq}, got ${p[H]}`,
    }),
  ),
  {
    argument: 'v',
    kind: 'shape',
    broken: p => (positive(p.Dv) ? null : `must have at least one channel, got Dv = ${p.Dv}`),
  },
  ...(['k', 'v'] as const).map(
    (name): Rule<AttentionProblem> => ({
      argument: name,
      kind: 'shape',
      broken: p =>
        p[name].starts !== 'strided' || p[name].page || p[name].shape[0] === p.B
          ? null
          : `must have the batch size of q (${p.B}), got ${p[name].shape[0]}`,
    }),
  ),
  {
    argument: 'v',
    kind: 'shape',
    broken: p => {
      if ([p.k, p.v].some(({ starts, page }) => starts !== 'strided' || page)) return null;
      const [keys, values] = [p.k.shape[2], p.v.shape[2]];
      return keys === values ? null : `must have as many positions as k (${keys}), got ${values}`;
    },
  },
  ...(
    [
      ['Q', ['q', 'o']],
      ['Kv', ['k', 'v']],
    ] as const
  ).map(
    ([side, names]): Rule<AttentionProblem> => ({
      argument: `seqLens${side}`,
      kind: 'argument',
      broken: p => {
        const dense = names.every(name => p[name].starts === 'strided');
        return dense || p[`lengths${side}`] !== 'full' ? null : lengthsMissing(side);
      },
    }),
  ),
  {
    argument: 'scale',
    kind: 'argument',
    // Scores are f32, and so is what scales them.
    broken: p => (Number.isFinite(Math.fround(p.scale)) ? null : `must be a finite number, got ${p.scale}`),
  },
  {
    argument: 'softcap',
    kind: 'argument',
    broken: p =>
      p.softcap === null || (p.softcap > 0 && Number.isFinite(p.softcap))
        ? null
        : `must be a finite number > 0, got ${p.softcap}`,
  },
  ...(['left', 'right'] as const).map(
    (side): Rule<AttentionProblem> => ({
      argument: `window.${side}`,
      kind: 'argument',
      broken: p => {
        const bound = p.band?.[side] ?? null;
        return bound === null || (Number.isInteger(bound) && bound >= 0)
          ? null
          : `must be a count of keys (an integer ≥ 0; omit it for no bound), got ${bound}`;
      },
    }),
  ),
  dtypeRule('bias', 'bias', p => p.bias?.dtype),
  dtypeRule('mask', 'mask', p => p.mask?.dtype),
  dtypeRule('dropout.mask', 'dropoutMask', p =>
    p.dropout?.kind === 'mask' ? p.dropout.mask.dtype : undefined,
  ),
  dtypeRule('blockMask', 'blockMask', p => p.blockMask?.dtype),
  ...(
    [
      ['maxSeqLenQ', 'Sq'],
      ['maxSeqLenKv', 'Skv'],
    ] as const
  ).map(
    ([argument, S]): Rule<AttentionProblem> => ({
      argument,
      kind: 'argument',
      broken: p => (Number.isInteger(p[S]) && p[S] >= 0 ? null : `must be an integer ≥ 0, got ${p[S]}`),
    }),
  ),
  ...(['k', 'v'] as const).flatMap((name): Rule<AttentionProblem>[] => pageRules(name)),
  ...(['amaxS', 'amaxO'] as const).map(
    (name): Rule<AttentionProblem> => ({
      argument: `outputs.${name}`,
      kind: 'argument',
      broken: ({ fp8, outputs }) =>
        outputs[name] && fp8 === null ? 'is a result of the FP8 contract: give fp8 too' : null,
    }),
  ),
];

function pageRules(name: 'k' | 'v'): Rule<AttentionProblem>[] {
  const table = name === 'k' ? 'pageTableK' : 'pageTableV';
  const rule = (
    kind: RuleKind,
    argument: string,
    broken: (p: AttentionProblem, page: NonNullable<OperandDesc['page']>) => string | null,
  ): Rule<AttentionProblem> => ({
    argument,
    kind,
    broken: p => {
      const { page } = p[name];
      return page ? broken(p, page) : null;
    },
  });
  return [
    rule('argument', 'seqLensKv', p =>
      p.lengthsKv === 'full'
        ? `must be given with ${table}: a page table does not say how long a sequence is`
        : null,
    ),
    rule('shape', name, (_, page) =>
      positive(page.size) && Number.isInteger(Math.log2(page.size))
        ? null
        : `must have a page size that is a power of two, got ${page.size}`,
    ),
    rule('shape', table, (p, page) => {
      // Of a packed table only the data says how many pages a sequence has.
      if (page.table.shape.length === 1) return null;
      const [rows, pages] = page.table.shape;
      const needed = Math.ceil(p.Skv / page.size);
      if (rows !== p.B) return `must have ${p.B} rows, got shape [${page.table.shape}]`;
      return pages >= needed ? null : `must have at least ${needed} pages for ${p.Skv} keys, got ${pages}`;
    }),
    dtypeRule(table, table, p => p[name].page?.table.dtype),
  ];
}

/**
 * Checks a forward problem that was stored, or made by hand; `normalise` has checked those that it makes.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, naming the option, its value and the rule.
 */
export function validate(problem: AttentionProblem): void {
  checkForwardProblem(problem);
  checkRules(forwardRules, problem);
  checkRules(fp8ForwardRules, problem);
  checkRules(storedRules, problem);
  checkProblemMods(problem);
}
