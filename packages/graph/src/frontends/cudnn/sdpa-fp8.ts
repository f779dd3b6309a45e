import { InvalidDTypeError } from '@tilewise/core';
import type { Graph } from '../../graph.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { SdpaFp8Arguments, SdpaFp8BackwardArguments } from './arguments/arguments.ts';
import { backwardScalars, forwardScalars, scalarsOf } from './arguments/fp8-scalars.ts';
import { cudnnOptions } from './arguments/options.ts';
import { checkArguments } from './arguments/rules.ts';
import { addComposite, addCompositeBackward } from './composite/composite.ts';
import { isComposite } from './composite/limits.ts';
import { type Amaxes, fp8CompositeSteps, isFp8 } from './composite/steps.ts';
import { opWriter } from './op-writer.ts';
import { addUnified } from './unified.ts';

/**
 * The results of `sdpaFp8`. amaxS and amaxO are f32 (1, 1, 1, 1): the largest probability and the largest
 * |o|, before their scales are applied.
 */
export interface SdpaFp8Node {
  /** (B, Hq, Sq, Dv). */
  readonly o: LogicalTensor;
  /** f32 (B, Hq, Sq, 1): the log-sum-exp, if `generateStats` asks for it. */
  readonly stats?: LogicalTensor;
  /** The largest probability, before scaleS. */
  readonly amaxS: LogicalTensor;
  /** The largest |o|, before scaleO. */
  readonly amaxO: LogicalTensor;
}

/**
 * The results of `sdpaFp8Backward`. The amax results are largest magnitudes before their scales are applied;
 * that of dS is after `attnScale`.
 */
export interface SdpaFp8BackwardNode {
  /** (B, Hq, Sq, Dqk). */
  readonly dq: LogicalTensor;
  /** (B, Hk, Skv, Dqk). */
  readonly dk: LogicalTensor;
  /** (B, Hv, Skv, Dv). */
  readonly dv: LogicalTensor;
  /** f32 (1, Hq, 1, 1), if `dSinkToken` asks for it. */
  readonly dSinkToken?: LogicalTensor;
  /** The largest |dq|, before scaleDQ. */
  readonly amaxDQ: LogicalTensor;
  /** The largest |dk|, before scaleDK. */
  readonly amaxDK: LogicalTensor;
  /** The largest |dv|, before scaleDV. */
  readonly amaxDV: LogicalTensor;
  /** The largest |dS|, before scaleDP. */
  readonly amaxDP: LogicalTensor;
}

/**
 * Adds cuDNN's FP8 attention node to a graph, with the arithmetic that `Fp8Options` of `@tilewise/core`
 * describes.
 * @throws as `sdpa`.
 */
export function sdpaFp8(graph: Graph, args: SdpaFp8Arguments): SdpaFp8Node {
  checkFp8(graph, args, 'sdpaFp8');
  if (isComposite(args)) {
    const write = opWriter(graph, args.name);
    const { amaxes, ...steps } = fp8CompositeSteps(write, args, compositeRank(args), ['amaxS', 'amaxO']);
    const made = addComposite(graph, { ...args, steps }, write);
    return { ...made, ...(amaxes as Required<Pick<Amaxes, 'amaxS' | 'amaxO'>>) };
  }
  const { q, k, v, name, oDType = q.dtype } = args;
  const { o, lse, amaxS, amaxO } = addUnified(graph, {
    kind: 'Sdpa',
    ...(name && { name }),
    inputs: { q, k, v },
    options: { ...cudnnOptions(args), fp8: scalarsOf(args, forwardScalars) },
    results: { o: oDType, ...(args.generateStats && { lse: 'f32' as const }), amaxS: 'f32', amaxO: 'f32' },
  });
  return { o, ...(lse && { stats: lse }), amaxS, amaxO };
}

/**
 * Adds cuDNN's node for the gradients of FP8 attention to a graph.
 * @throws as `sdpa`.
 */
export function sdpaFp8Backward(graph: Graph, args: SdpaFp8BackwardArguments): SdpaFp8BackwardNode {
  checkFp8(graph, args, 'sdpaFp8Backward');
  const { q, k, v, o, dO, stats, name, gradDType = q.dtype } = args;
  if (isComposite(args)) {
    const write = opWriter(graph, name);
    const { amaxes, ...steps } = fp8CompositeSteps(write, args, compositeRank(args), backwardAmaxes);
    const made = addCompositeBackward(graph, { ...args, gradDType, steps }, write);
    return { ...made, ...(amaxes as Required<Pick<Amaxes, (typeof backwardAmaxes)[number]>>) };
  }
  const { dq, dk, dv, dsink, amaxDQ, amaxDK, amaxDV, amaxDP } = addUnified(graph, {
    kind: 'SdpaBackward',
    ...(name && { name }),
    inputs: { q, k, v, o, lse: stats, dO },
    options: { ...cudnnOptions(args), fp8: scalarsOf(args, backwardScalars) },
    results: {
      ...{ dq: gradDType, dk: gradDType, dv: gradDType },
      ...(args.dSinkToken && { dsink: 'f32' as const }),
      ...{ amaxDQ: 'f32', amaxDK: 'f32', amaxDV: 'f32', amaxDP: 'f32' },
    },
  });
  return { dq, dk, dv, ...(dsink && { dSinkToken: dsink }), amaxDQ, amaxDK, amaxDV, amaxDP };
}

const backwardAmaxes = ['amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'] as const;

function checkFp8(
  graph: Graph,
  args: SdpaFp8Arguments | SdpaFp8BackwardArguments,
  node: 'sdpaFp8' | 'sdpaFp8Backward',
): void {
  checkArguments(graph, args, node);
  const { dtype } = args.q;
  if (!isFp8(dtype)) {
    throw new InvalidDTypeError(
      'q',
      `must be f8e4m3 or f8e5m2, the dtype that P is rounded to, got ${dtype}`,
    );
  }
}

/** The rank of the tensors in a composite node: grouped heads add a dimension. */
function compositeRank({ q, k }: SdpaFp8Arguments | SdpaFp8BackwardArguments): number {
  return q.shape?.[1] === k.shape?.[1] ? 4 : 5;
}
