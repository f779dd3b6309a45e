import { sameShape } from '../../tensor/shape.ts';
import { lengthsMissing } from '../options/sequences.ts';
import { blockMaskShape } from '../problem/describe.ts';
import { maxExtent, maxHeads } from '../problem/limits.ts';
import type { AttentionProblem, OperandDesc } from '../problem/problem.ts';
import { fp8ForwardRules } from './fp8-rules.ts';
import { checkForwardProblem } from './problem-schema.ts';
import { argumentRule, checkRules, dtypeRule, type Rule, shapeRule, unless } from './rule.ts';
import { checkProblemMods, storedRules } from './stored-rules.ts';

/** Limits the heads of a batch. Checked before anything is allocated for the batch entries. */
export const batchRule: Rule<Pick<AttentionProblem, 'B' | 'Hq'>> = shapeRule('q', ({ B, Hq }) =>
  unless(B * Math.max(Hq, 1) <= maxHeads, `must have B · Hq ≤ ${maxHeads}, got ${B} · ${Hq}`),
);

const positive = (n: number): boolean => Number.isInteger(n) && n >= 1;
const isDense = ({ starts, page }: OperandDesc): boolean => starts === 'strided' && !page;

/**
 * Every rule of a forward problem, in the order of the options. The rules follow from the mathematics or from
 * the layout of data in memory. Limits of one machine belong to its engine, which reports them in
 * `checkSupport`; the rules of FP8 are `fp8ForwardRules`.
 */
export const forwardRules: readonly Rule<AttentionProblem>[] = [
  batchRule,
  shapeRule('q', ({ B, Hq, Sq }) =>
    unless(B * Hq * Sq <= maxExtent, `must have B · Hq · Sq ≤ ${maxExtent}, got ${B} · ${Hq} · ${Sq}`),
  ),
  ...(['q', 'k', 'v'] as const).map(name => dtypeRule(name, name, (p: AttentionProblem) => p[name].dtype)),
  dtypeRule('outDType', 'o', p => p.o.dtype),
  shapeRule('q', ({ Hq, Dqk }) =>
    unless(
      positive(Hq) && positive(Dqk),
      `must have at least one head and one channel, got Hq = ${Hq}, Dqk = ${Dqk}`,
    ),
  ),
  shapeRule('k', ({ k, Dqk }) =>
    unless(k.shape[3] === Dqk, `must have the head size of q (${Dqk}), got ${k.shape[3]}`),
  ),
  headsRule('k', 'Hk'),
  headsRule('v', 'Hv'),
  shapeRule('v', ({ Dv }) => unless(positive(Dv), `must have at least one channel, got Dv = ${Dv}`)),
  ...(['k', 'v'] as const).map(name =>
    shapeRule(name, ({ B, [name]: desc }: AttentionProblem) =>
      unless(
        !isDense(desc) || desc.shape[0] === B,
        `must have the batch size of q (${B}), got ${desc.shape[0]}`,
      ),
    ),
  ),
  shapeRule('v', ({ k, v }) =>
    unless(
      !isDense(k) || !isDense(v) || k.shape[2] === v.shape[2],
      `must have as many positions as k (${k.shape[2]}), got ${v.shape[2]}`,
    ),
  ),
  lengthsRule('Q', ({ q, o }) => [q, o]),
  lengthsRule('Kv', ({ k, v }) => [k, v]),
  // Scores are f32, and so is the factor that scales them.
  argumentRule('scale', ({ scale }) =>
    unless(Number.isFinite(Math.fround(scale)), `must be a finite number, got ${scale}`),
  ),
  // Between these bounds, score / softcap is a normal f32 number for every score that matters, and
  // c·tanh(score / c) is an f32 number too. Beyond them, GPUs flush the quotient to 0, or the product
  // overflows.
  argumentRule('softcap', ({ softcap }) =>
    unless(
      softcap === null || (softcap >= 1e-30 && softcap <= 1e30),
      `must be a number from 1e-30 to 1e30, got ${softcap}`,
    ),
  ),
  ...(['left', 'right'] as const).map(side =>
    argumentRule(`window.${side}`, ({ band }: AttentionProblem) => {
      const bound = band?.[side] ?? null;
      return unless(
        bound === null || (Number.isInteger(bound) && bound >= 0),
        `must be a count of keys (an integer ≥ 0; omit it for no bound), got ${bound}`,
      );
    }),
  ),
  dtypeRule('bias', 'bias', p => p.bias?.dtype),
  dtypeRule('mask', 'mask', p => p.mask?.dtype, ' (pass an additive mask as bias)'),
  dtypeRule('dropout.mask', 'dropoutMask', p =>
    p.dropout?.kind === 'mask' ? p.dropout.mask.dtype : undefined,
  ),
  dtypeRule('blockMask', 'blockMask', p => p.blockMask?.dtype),
  shapeRule('blockMask', p => {
    const tiles = blockMaskShape(p).slice(2);
    return unless(
      p.blockMask === null || sameShape(p.blockMask.source.slice(-2), tiles),
      `must end in [${tiles}] (tiles, bytes), got shape [${p.blockMask?.source}]`,
    );
  }),
  extentRule('maxSeqLenQ', 'Sq'),
  extentRule('maxSeqLenKv', 'Skv'),
  ...pageRules('k', 'pageTableK'),
  ...pageRules('v', 'pageTableV'),
  ...(['amaxS', 'amaxO'] as const).map(name =>
    argumentRule(`outputs.${name}`, ({ fp8, outputs }: AttentionProblem) =>
      unless(!outputs[name] || fp8 !== null, 'is a result of the FP8 contract: give fp8 too'),
    ),
  ),
];

function headsRule(name: 'k' | 'v', H: 'Hk' | 'Hv'): Rule<AttentionProblem> {
  return shapeRule(name, ({ Hq, [H]: heads }) =>
    unless(
      heads >= 1 && Hq % heads === 0,
      `must have a number of heads that divides q's ${Hq}, got ${heads}`,
    ),
  );
}

function lengthsRule(
  side: 'Q' | 'Kv',
  operands: (problem: AttentionProblem) => readonly OperandDesc[],
): Rule<AttentionProblem> {
  return argumentRule(`seqLens${side}`, p =>
    unless(
      operands(p).every(({ starts }) => starts === 'strided') || p[`lengths${side}`] !== 'full',
      lengthsMissing(side),
    ),
  );
}

function extentRule(argument: string, S: 'Sq' | 'Skv'): Rule<AttentionProblem> {
  return argumentRule(argument, ({ [S]: extent }) =>
    unless(
      Number.isInteger(extent) && extent >= 0 && extent <= maxExtent,
      `must be an integer in [0, ${maxExtent}], got ${extent}`,
    ),
  );
}

function pageRules(name: 'k' | 'v', table: 'pageTableK' | 'pageTableV'): Rule<AttentionProblem>[] {
  return [
    argumentRule('seqLensKv', ({ lengthsKv, [name]: { page } }) =>
      unless(
        !page || lengthsKv !== 'full',
        `must be given with ${table}: a page table does not say how long a sequence is`,
      ),
    ),
    shapeRule(name, ({ [name]: { page } }) =>
      unless(
        !page || (positive(page.size) && Number.isInteger(Math.log2(page.size))),
        `must have a page size that is a power of two, got ${page?.size}`,
      ),
    ),
    shapeRule(table, ({ B, Skv, [name]: { page } }) => {
      // For a packed table, only the data says how many pages a sequence has.
      if (!page || page.table.shape.length === 1) return null;
      const [rows, pages] = page.table.shape;
      const needed = Math.ceil(Skv / page.size);
      if (rows !== B) return `must have ${B} rows, got shape [${page.table.shape}]`;
      return unless(pages >= needed, `must have at least ${needed} pages for ${Skv} keys, got ${pages}`);
    }),
    dtypeRule(table, table, p => p[name].page?.table.dtype),
  ];
}

/**
 * Checks a forward problem that was stored or made by hand; `normalise` has already checked the problems that
 * it makes.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, naming the option, its value and the
 * rule.
 */
export function validate(problem: AttentionProblem): void {
  checkForwardProblem(problem);
  checkRules(forwardRules, problem);
  checkRules(fp8ForwardRules, problem);
  checkRules(storedRules, problem);
  checkProblemMods(problem);
}
