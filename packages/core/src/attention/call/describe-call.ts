import { InvalidArgumentError } from '../../errors.ts';
import { type HostArray, hostList } from '../../tensor/host-array.ts';
import { copiedDesc, type TensorDesc } from '../../tensor/tensor-desc.ts';
import { standardSlopes } from '../options/alibi.ts';
import { bandOf } from '../options/band.ts';
import { dropoutDesc } from '../options/dropout.ts';
import { checkLists, checkPageCounts, listOperands } from '../options/lists.ts';
import { modCaptures } from '../options/mods.ts';
import type { ForwardInputs, MaskDropout, OutputSelection, SdpaOptions } from '../options/options.ts';
import { batchSize, describeOperand, describeResult, extentOf, lengthsKind } from '../options/sequences.ts';
import { blockMaskShape, describeBroadcast } from '../problem/describe.ts';
import type { AttentionProblem, Operands } from '../problem/problem.ts';
import { batchRule, forwardRules } from '../rules/forward-rules.ts';
import { checkRules } from '../rules/rule.ts';
import type { OptionReaders } from './option-readers.ts';

/**
 * A forward call as a problem that obeys the forward rules, with its defaults filled in. Tensors and lists
 * fit each other.
 */
export function describeCall<T extends TensorDesc>(
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
export function chosen<N extends keyof OutputSelection>(
  names: readonly N[],
  outputs: OutputSelection | undefined,
): Record<N, boolean> {
  return Object.fromEntries(names.map(name => [name, outputs?.[name] ?? false])) as Record<N, boolean>;
}

/** The object without the properties that are undefined. */
export function defined<O extends object>(o: O): O {
  return Object.fromEntries(Object.entries(o).filter(([, value]) => value !== undefined)) as O;
}
