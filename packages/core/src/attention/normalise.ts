import { InvalidArgumentError } from '../errors.ts';
import { isRecord } from '../tensor/checks/check-on-host.ts';
import { type HostArray, hostList, isHostArray } from '../tensor/host-array.ts';
import { Tensor, type TensorDesc } from '../tensor/tensor.ts';
import { copiedDesc } from '../tensor/tensor-desc.ts';
import { allReaders, type OptionReaders } from './option-readers.ts';
import { standardSlopes } from './options/alibi.ts';
import { bandOf } from './options/band.ts';
import { dropoutDesc } from './options/dropout.ts';
import { checkLists, checkPageCounts, listOperands } from './options/lists.ts';
import { modCaptures } from './options/mods.ts';
import type {
  BackwardInputs,
  ForwardInputs,
  MaskDropout,
  OutputSelection,
  SdpaBackwardOptions,
  SdpaOptions,
} from './options/options.ts';
import { checkCall } from './options/schema.ts';
import {
  batchSize,
  describeGradient,
  describeOperand,
  describeResult,
  extentOf,
  lengthsKind,
} from './options/sequences.ts';
import { blockMaskShape, describeBroadcast } from './problem/describe.ts';
import type {
  AttentionProblem,
  BackwardOperands,
  BackwardProblem,
  GradientName,
  Operands,
} from './problem/problem.ts';
import { backwardRules, checkRows } from './rules/backward-rules.ts';
import { batchRule, forwardRules } from './rules/forward-rules.ts';
import { checkRules } from './rules/rule.ts';

/**
 * Turns a call into a problem: fills in every default, describes every tensor as (B, H, S, D), and checks all
 * rules.
 * @param inputs q (B, Hq, Sq, Dqk), k (B, Hk, Skv, Dqk) and v (B, Hv, Skv, Dv), or in the layouts that the
 * options allow: tensors, or their descriptions `{ dtype, shape, strides }`.
 * @param options the options of `sdpa`.
 * @returns the problem, which is plain data, and its tensors by name; lists of numbers become tensors.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, naming the option, its value and the
 * rule.
 */
export function normalise<T extends TensorDesc>(
  inputs: ForwardInputs<T>,
  options: SdpaOptions<T> = {},
): { problem: AttentionProblem; operands: Operands<T | Tensor> } {
  return withTensors(normaliseCall(inputs, options, allReaders));
}

/**
 * `normalise` that leaves lists of numbers as host arrays, for an engine that only passes them on, and that
 * reads options with the readers that the engine has loaded.
 * @throws as `normalise`.
 */
export function normaliseCall<T extends TensorDesc>(
  inputs: ForwardInputs<T>,
  options: SdpaOptions<T>,
  readers: OptionReaders,
): { problem: AttentionProblem; operands: Operands<T | HostArray> } {
  checkCall(inputs, options, readers.nearestName);
  const call = describeCall(inputs, options, readers);
  readers.data?.validateOperands(call.problem, call.operands);
  return call;
}

/**
 * A forward call as a problem that obeys the forward rules, with its defaults filled in. Tensors and lists
 * fit each other.
 */
function describeCall<T extends TensorDesc>(
  { q, k, v }: ForwardInputs<T>,
  options: SdpaOptions<T>,
  readers: OptionReaders,
  backward: { readonly dO?: T } = {},
): { problem: AttentionProblem; operands: Operands<T | HostArray> } {
  const { fp8, nearestName } = readers;
  const given = listOperands(options);
  const descQ = describeOperand('q', q, given);
  const descK = describeOperand('k', k, given, options.pageTableK);
  const descV = describeOperand('v', v, given, options.pageTableV);
  const Hq = descQ.shape[1];
  const B = batchSize(descQ, given);
  checkRules([batchRule], { B, Hq });
  const lists = options.alibi === true ? { ...given, alibi: hostList(standardSlopes(Hq), 'f32') } : given;
  checkLists(lists, { B, Hq });
  checkPageCounts('K', descK, lists.cuPagesK);
  checkPageCounts('V', descV, lists.cuPagesV);
  const Sq = extentOf('Q', [descQ], lists, options.maxSeqLenQ);
  const Skv = extentOf('Kv', [descK, descV], lists, options.maxSeqLenKv);

  const Dv = descV.shape[3];
  const outDType = options.outDType ?? (options.mxfp8 ? 'bf16' : q.dtype);
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
    q: descQ,
    k: descK,
    v: descV,
    o: describeResult('o', descQ, { B, S: Sq, D: Dv }, outDType, lists),
    lengthsQ: lengthsKind('Q', lists),
    lengthsKv: lengthsKind('Kv', lists),
    scale: options.scale ?? 1 / Math.sqrt(descQ.shape[3]),
    scoreMod: options.scoreMod?.expr ?? null,
    softcap: options.softcap ?? null,
    bias: describeBroadcast('bias', options.bias, [B, Hq, Sq, Skv]),
    alibi: lists.alibi !== undefined,
    mask: describeBroadcast('mask', options.mask, [B, Hq, Sq, Skv]),
    band: bandOf(options),
    blockMask: describeBroadcast('blockMask', options.blockMask, blockMaskShape({ B, Hq, Sq, Skv })),
    maskMod: options.maskMod?.expr ?? null,
    captures: Object.fromEntries(Object.entries(captures).map(([name, t]) => [name, copiedDesc(t)])),
    sink: lists.sink !== undefined,
    dropout: dropoutDesc(options.dropout, [B, Hq, Sq, Skv]),
    fp8: fp8Desc(options, readers),
    outputs: chosen(['max', 'sumExp', 'dropoutMask', 'amaxS', 'amaxO'], options.outputs),
  };
  // A rule refuses pages with block scales, so their containers need no check here.
  const quantised = { q, k: descK.page ? undefined : k, v: descV.page ? undefined : v, ...backward };
  const operands: Operands<T | HostArray> = defined({
    q,
    k,
    v,
    ...lists,
    bias: options.bias,
    mask: options.mask,
    blockMask: options.blockMask,
    pageTableK: options.pageTableK,
    pageTableV: options.pageTableV,
    dropoutMask: (options.dropout as Partial<MaskDropout<T>> | undefined)?.mask,
    captures: Object.keys(captures).length > 0 ? captures : undefined,
    fp8: options.fp8 && fp8?.scalars(options.fp8, nearestName),
    mxfp8: options.mxfp8 && fp8?.tensors(options.mxfp8, quantised, nearestName),
  });
  checkRules(forwardRules, problem);
  if (fp8) checkRules(fp8.rules, problem);
  return { problem, operands };
}

/**
 * The backward problem of a call, checked like the forward one.
 * @param inputs q, k, v, o, lse and dO of the call, and dLse if lse has a gradient: tensors or descriptions.
 * @param options the options of the forward call, and the wanted `gradients`.
 * @throws as `normalise`.
 */
export function normaliseBackward<T extends TensorDesc>(
  inputs: BackwardInputs<T>,
  options: SdpaBackwardOptions<T> = {},
): { problem: BackwardProblem; operands: BackwardOperands<T | Tensor> } {
  return withTensors(normaliseBackwardCall(inputs, options, allReaders));
}

/**
 * `normaliseBackward` that leaves lists of numbers as host arrays.
 * @throws as `normalise`.
 */
export function normaliseBackwardCall<T extends TensorDesc>(
  inputs: BackwardInputs<T>,
  options: SdpaBackwardOptions<T>,
  readers: OptionReaders,
): { problem: BackwardProblem; operands: BackwardOperands<T | HostArray> } {
  checkCall(inputs, options, readers.nearestName);
  const { o, lse, dO, dLse } = inputs;
  const { problem: plain, operands } = describeCall(inputs, options, readers, { dO });
  const { B, Sq, Skv, q, k, v } = plain;
  const gradDType = options.gradDType ?? (options.mxfp8 ? dO?.dtype : undefined);
  const forward: AttentionProblem = { ...plain, o: describeOperand('o', o, operands) };
  const problem: BackwardProblem = {
    forward,
    dO: describeOperand('dO', dO, operands),
    dq: describeGradient('dq', q, { B, S: Sq }, operands, gradDType),
    dk: describeGradient('dk', k, { B, S: Skv }, operands, gradDType),
    dv: describeGradient('dv', v, { B, S: Skv }, operands, gradDType),
    dLse: dLse !== undefined,
    gradients: [...(options.gradients ?? defaultGradients(options))],
    outputs: chosen(['amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'], options.outputs),
  };
  checkRules(backwardRules, problem);
  checkRows('lse', lse, forward);
  if (dLse !== undefined) checkRows('dLse', dLse, forward);
  readers.data?.validateBackwardOperands(problem, operands);
  return { problem, operands: defined({ ...operands, o, lse, dO, dLse }) };
}

/**
 * The call with every operand that was a host array turned into a tensor, also those in records. Tensors of
 * another copy of this package are host arrays here.
 */
function withTensors<P, T, O>({
  problem,
  operands,
}: {
  readonly problem: P;
  readonly operands: Operands<T | HostArray>;
}): { problem: P; operands: O } {
  const made = (value: unknown): unknown => {
    if (value instanceof Tensor) return value;
    if (isHostArray(value)) return Tensor.wrap(value.data, value);
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, made(part)]));
  };
  return { problem, operands: made(operands) as O };
}

function fp8Desc({ fp8, mxfp8 }: SdpaOptions<unknown>, readers: OptionReaders): AttentionProblem['fp8'] {
  if (mxfp8 && fp8) throw new InvalidArgumentError('mxfp8', 'cannot be combined with fp8');
  if ((mxfp8 || fp8) && !readers.fp8)
    throw new InvalidArgumentError(mxfp8 ? 'mxfp8' : 'fp8', 'was given to a call that does not read it');
  if (mxfp8) return { kind: 'blocks', layout: mxfp8.layout ?? 'rows' };
  if (!fp8) return null;
  const formatP = readers.fp8?.format(fp8, readers.nearestName);
  return { kind: 'scaled', ...(formatP && { formatP }) };
}

/** Which of the named results the call asks for. */
function chosen<N extends keyof OutputSelection>(
  names: readonly N[],
  outputs: OutputSelection | undefined,
): Record<N, boolean> {
  return Object.fromEntries(names.map(name => [name, outputs?.[name] ?? false])) as Record<N, boolean>;
}

function defaultGradients(options: SdpaOptions<unknown>): GradientName[] {
  const gradients: GradientName[] = ['dq', 'dk', 'dv'];
  if (options.bias !== undefined) gradients.push('dbias');
  if (options.sink !== undefined) gradients.push('dsink');
  if (options.alibi !== undefined && typeof options.alibi !== 'boolean') gradients.push('dAlibi');
  return gradients;
}

function defined<O extends object>(o: O): O {
  return Object.fromEntries(Object.entries(o).filter(([, value]) => value !== undefined)) as O;
}
