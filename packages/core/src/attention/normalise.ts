import { InvalidArgumentError, InvalidShapeError } from '../errors.ts';
import { lengthsFromCumulative } from '../layout/cumulative-lengths.ts';
import { contiguousStrides, type Shape } from '../tensor/shape.ts';
import { Tensor, type TensorDesc } from '../tensor/tensor.ts';
import { standardSlopes } from './alibi.ts';
import { backwardRules, checkRows } from './backward-rules.ts';
import { bandOf } from './band.ts';
import { describeBlockMask } from './block-mask.ts';
import { describeBroadcast, describeDense, describePacked, describePaged } from './describe.ts';
import { dropoutDesc } from './dropout.ts';
import { forwardRules } from './forward-rules.ts';
import { fp8Scalars } from './fp8.ts';
import { checkList, listOperand } from './lists.ts';
import { modCaptures } from './mods.ts';
import { validateListDTypes, validateOperands } from './operand-rules.ts';
import type { GradientName, SdpaBackwardOptions, SdpaOptions } from './options.ts';
import type { AttentionProblem, BackwardProblem, LengthsKind, OperandDesc, Operands } from './problem.ts';
import { checkRules } from './rule.ts';

/** q, k and v of a forward call: (B, H, S, D) with any strides, or packed (T, H, D). */
export interface ForwardInputs<T> {
  readonly q: T;
  readonly k: T;
  readonly v: T;
}

/** What backward takes: the forward inputs and results, and the gradients of the loss by o and (optionally) lse. */
export interface BackwardInputs<T> extends ForwardInputs<T> {
  readonly o: T;
  /** f32, natural logarithm: (B, Hq, Sq), packed (Hq, T). */
  readonly lse: T;
  readonly dO: T;
  /** Gradient by lse, as lse. Default 0. */
  readonly dLse?: T;
}

/** Tensors of a backward call by name. */
export type BackwardOperands<T> = Operands<T> & {
  readonly o: T;
  readonly lse: T;
  readonly dO: T;
  readonly dLse?: T;
};

/**
 * Turns a call into a problem: fills every default, sees every tensor as (B, H, S, D), and checks all rules.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, naming the option, its value and the rule.
 */
export function normalise<T extends TensorDesc>(
  { q, k, v }: ForwardInputs<T>,
  options: SdpaOptions<T> = {},
): { problem: AttentionProblem; operands: Operands<T | Tensor> } {
  const packed = options.cuSeqLensQ !== undefined || options.cuSeqLensKv !== undefined;
  if (packed && (options.cuSeqLensQ === undefined || options.cuSeqLensKv === undefined)) {
    const missing = options.cuSeqLensQ === undefined ? 'cuSeqLensQ' : 'cuSeqLensKv';
    throw new InvalidArgumentError(
      missing,
      'must be given: packed tensors need both cuSeqLensQ and cuSeqLensKv',
    );
  }
  const describe = packed ? describePacked : describeDense;
  const descQ = describe('q', q);
  const descK = options.pageTableK ? describePaged('k', k, options.pageTableK) : describe('k', k);
  const descV = options.pageTableV ? describePaged('v', v, options.pageTableV) : describe('v', v);
  const Hq = descQ.shape[1];

  const lists = {
    seqLensQ: listOperand('seqLensQ', options.seqLensQ, 'i32'),
    seqLensKv: listOperand('seqLensKv', options.seqLensKv, 'i32'),
    cuSeqLensQ: listOperand('cuSeqLensQ', options.cuSeqLensQ, 'i32'),
    cuSeqLensKv: listOperand('cuSeqLensKv', options.cuSeqLensKv, 'i32'),
    cuPagesK: listOperand('cuPagesK', options.cuPagesK, 'i32'),
    cuPagesV: listOperand('cuPagesV', options.cuPagesV, 'i32'),
    alibi: listOperand(
      'alibi',
      options.alibi === true ? standardSlopes(Hq) : options.alibi || undefined,
      'f32',
    ),
    sink: listOperand('sink', options.sink, 'f32'),
  };
  validateListDTypes(lists);
  const B = lists.cuSeqLensQ ? lists.cuSeqLensQ.shape[0] - 1 : descQ.shape[0];
  const Sq = packed
    ? longest('cuSeqLensQ', 'maxSeqLenQ', lists.cuSeqLensQ, options.maxSeqLenQ)
    : known('maxSeqLenQ', descQ.shape[2], options.maxSeqLenQ);
  const Skv = packed
    ? longest('cuSeqLensKv', 'maxSeqLenKv', lists.cuSeqLensKv, options.maxSeqLenKv)
    : keyCapacity(descK, descV, lists, options.maxSeqLenKv);
  checkList('seqLensQ', lists.seqLensQ, B);
  checkList('seqLensKv', lists.seqLensKv, B);
  checkList('cuSeqLensKv', lists.cuSeqLensKv, B + 1);
  checkPageCounts('K', descK, lists.cuPagesK, B);
  checkPageCounts('V', descV, lists.cuPagesV, B);
  checkList('alibi', lists.alibi, Hq);
  checkList('sink', lists.sink, Hq);

  const Dv = descV.shape[3];
  const captures = modCaptures(options);
  const problem: AttentionProblem = {
    B,
    Hq,
    Hk: descK.shape[1],
    Hv: descV.shape[1],
    Sq,
    Skv,
    Dqk: descQ.shape[3],
    Dv,
    packed,
    q: descQ,
    k: descK,
    v: descV,
    o: resultDesc(descQ, Dv, packed, options.outDType ?? q.dtype),
    lengthsQ: lengthsKind(lists.seqLensQ, packed),
    lengthsKv: lengthsKind(lists.seqLensKv, packed),
    scale: options.scale ?? 1 / Math.sqrt(descQ.shape[3]),
    scoreMod: options.scoreMod?.expr ?? null,
    softcap: options.softcap ?? null,
    bias: describeBroadcast('bias', options.bias, [B, Hq, Sq, Skv]),
    alibi: lists.alibi !== undefined,
    mask: describeBroadcast('mask', options.mask, [B, Hq, Sq, Skv]),
    band: bandOf(options),
    blockMask: describeBlockMask(options.blockMask, B, Hq, Sq, Skv),
    maskMod: options.maskMod?.expr ?? null,
    captures: Object.fromEntries(Object.entries(captures).map(([name, t]) => [name, plainDesc(t)])),
    sink: lists.sink !== undefined,
    dropout: dropoutDesc(options.dropout, [B, Hq, Sq, Skv]),
    fp8: options.fp8 ? { kind: 'scaled' } : null,
    outputs: {
      max: options.outputs?.max ?? false,
      sumExp: options.outputs?.sumExp ?? false,
      dropoutMask: options.outputs?.dropoutMask ?? false,
      amaxS: options.outputs?.amaxS ?? false,
      amaxO: options.outputs?.amaxO ?? false,
    },
  };
  const dropoutMask = options.dropout && 'mask' in options.dropout ? options.dropout.mask : undefined;
  const operands: Operands<T | Tensor> = defined({
    q,
    k,
    v,
    ...lists,
    bias: options.bias,
    mask: options.mask,
    blockMask: options.blockMask,
    pageTableK: options.pageTableK,
    pageTableV: options.pageTableV,
    dropoutMask,
    captures: Object.keys(captures).length > 0 ? captures : undefined,
    fp8: options.fp8 && fp8Scalars(options.fp8),
  });
  checkRules(forwardRules, problem);
  validateOperands(problem, operands);
  return { problem, operands };
}

/**
 * The backward problem of a call, checked like the forward one.
 * @throws as `normalise`.
 */
export function normaliseBackward<T extends TensorDesc>(
  inputs: BackwardInputs<T>,
  options: SdpaBackwardOptions<T> = {},
): { problem: BackwardProblem; operands: BackwardOperands<T | Tensor> } {
  const { o, lse, dO, dLse } = inputs;
  const { problem: plain, operands } = normalise(inputs, options);
  const describe = plain.packed ? describePacked : describeDense;
  const forward: AttentionProblem = { ...plain, o: describe('o', o) };
  const problem: BackwardProblem = {
    forward,
    dO: describe('dO', dO),
    dLse: dLse !== undefined,
    gradients: options.gradients ?? defaultGradients(options),
    gradDType: options.gradDType ?? null,
    outputs: {
      amaxDQ: options.outputs?.amaxDQ ?? false,
      amaxDK: options.outputs?.amaxDK ?? false,
      amaxDV: options.outputs?.amaxDV ?? false,
      amaxDP: options.outputs?.amaxDP ?? false,
    },
  };
  checkRules(backwardRules, problem);
  checkRows('lse', lse, forward);
  if (dLse) checkRows('dLse', dLse, forward);
  return { problem, operands: defined({ ...operands, o, lse, dO, dLse }) };
}

function defaultGradients(options: SdpaOptions<unknown>): GradientName[] {
  const gradients: GradientName[] = ['dq', 'dk', 'dv'];
  if (options.bias !== undefined) gradients.push('dbias');
  if (options.sink !== undefined) gradients.push('dsink');
  if (options.alibi !== undefined && typeof options.alibi !== 'boolean') gradients.push('dAlibi');
  return gradients;
}

function lengthsKind(lengths: unknown, packed: boolean): LengthsKind {
  if (lengths !== undefined) return 'lengths';
  return packed ? 'cumulative' : 'full';
}

/** Longest sequence by cumulative lengths on the host; a device tensor cannot be read here, so the caller says it. */
function longest(
  argument: string,
  maximum: 'maxSeqLenQ' | 'maxSeqLenKv',
  cumulative: TensorDesc | undefined,
  stated?: number,
): number {
  if (cumulative && (cumulative.shape.length !== 1 || cumulative.shape[0] < 1)) {
    throw new InvalidShapeError(argument, `must have shape [B + 1], got [${cumulative.shape}]`);
  }
  if (stated !== undefined) return stated;
  if (!(cumulative instanceof Tensor)) {
    throw new InvalidArgumentError(maximum, `must be given when ${argument} is not on the host`);
  }
  return lengthsFromCumulative(cumulative, argument).reduce((most, n) => Math.max(most, n), 0);
}

/** A length that the tensors say themselves; stating another would be ignored. */
function known(argument: string, extent: number, stated: number | undefined): number {
  if (stated === undefined || stated === extent) return extent;
  throw new InvalidArgumentError(
    argument,
    `is for packed and paged tensors; these have ${extent} positions, got ${stated}`,
  );
}

function keyCapacity(
  k: OperandDesc,
  v: OperandDesc,
  { cuPagesK }: Partial<Operands<TensorDesc>>,
  stated: number | undefined,
): number {
  const dense = [k, v].find(desc => desc.page === null);
  if (dense) return known('maxSeqLenKv', dense.shape[2], stated);
  if (stated !== undefined || !k.page) return stated ?? 0;
  const { size, table } = k.page;
  return size * (table.shape.length === 1 ? longest('cuPagesK', 'maxSeqLenKv', cuPagesK) : table.shape[1]);
}

/** A packed page table and the counts of its pages come together. */
function checkPageCounts(
  name: 'K' | 'V',
  { page }: OperandDesc,
  cuPages: TensorDesc | undefined,
  B: number,
): void {
  const isPacked = page?.table.shape.length === 1;
  if (isPacked !== (cuPages !== undefined)) {
    throw new InvalidArgumentError(
      `cuPages${name}`,
      isPacked
        ? `must be given: pageTable${name} has rank 1`
        : `is for a pageTable${name} of rank 1 (packed)${page ? `, got shape [${page.table.shape}]` : ''}`,
    );
  }
  checkList(`cuPages${name}`, cuPages, B + 1);
}

function resultDesc(q: OperandDesc, Dv: number, packed: boolean, dtype: OperandDesc['dtype']): OperandDesc {
  const [b, h, s] = q.shape;
  const shape: Shape = packed ? [s, h, Dv] : [b, h, s, Dv];
  const t = { dtype, shape, strides: contiguousStrides(shape) };
  return packed ? describePacked('o', t) : describeDense('o', t);
}

const plainDesc = ({ dtype, shape, strides }: TensorDesc): TensorDesc => ({
  dtype,
  shape: [...shape],
  strides: [...strides],
});

function defined<O extends object>(o: O): O {
  return Object.fromEntries(Object.entries(o).filter(([, value]) => value !== undefined)) as O;
}
