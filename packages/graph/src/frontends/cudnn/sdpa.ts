import type { Graph } from '../../graph.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { SdpaArguments, SdpaBackwardArguments } from './arguments/arguments.ts';
import { cudnnOptions } from './arguments/options.ts';
import { checkArguments } from './arguments/rules.ts';
import { addComposite, addCompositeBackward } from './composite/composite.ts';
import { isComposite } from './composite/limits.ts';
import { opWriter } from './op-writer.ts';
import { addUnified } from './unified.ts';

/** The requested results of `sdpa`. */
export interface SdpaNode {
  /** (B, Hq, Sq, Dv). */
  readonly o: LogicalTensor;
  /**
   * f32 (B, Hq, Sq, 1). For a row without visible keys it is −∞, as in cuDNN; composite nodes give 0, like
   * oneDNN's SoftMax.
   */
  readonly stats?: LogicalTensor;
  /** f32 (B, Hq, Sq, 1): the largest score of each row, or its sink if that is larger. */
  readonly scoreMax?: LogicalTensor;
  /** f32 (B, Hq, Sq, 1): the sum of e^(score − scoreMax) of each row, with the sink. */
  readonly scoreSumExp?: LogicalTensor;
  /** f32 (B, Hq, Sq, Skv): 1 where a probability was kept, 0 where it was dropped. */
  readonly rngDump?: LogicalTensor;
}

/** The results of `sdpaBackward`, with the shapes and dtypes of q, k, v, bias and the sink. */
export interface SdpaBackwardNode {
  /** (B, Hq, Sq, Dqk). */
  readonly dq: LogicalTensor;
  /** (B, Hk, Skv, Dqk). */
  readonly dk: LogicalTensor;
  /** (B, Hv, Skv, Dv). */
  readonly dv: LogicalTensor;
  /** In the shape of the bias. */
  readonly dBias?: LogicalTensor;
  /** In the shape of the sink, (1, Hq, 1, 1). */
  readonly dSinkToken?: LogicalTensor;
}

/**
 * Adds cuDNN's attention node to a graph.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError for arguments that are invalid or
 * contradict each other; UnsupportedNodeError when the chosen implementation cannot express them.
 */
export function sdpa(graph: Graph, args: SdpaArguments): SdpaNode {
  checkArguments(graph, args, 'sdpa');
  if (isComposite(args)) return addComposite(graph, args);
  const { q, k, v, name, oDType = q.dtype, scoreMod } = args;
  const made = addUnified(graph, {
    kind: 'Sdpa',
    ...(name && { name }),
    inputs: { q, k, v },
    options: cudnnOptions(args),
    ...(scoreMod && { scoreMod }),
    results: {
      o: oDType,
      ...((args.generateStats || args.statsUseLog2) && { lse: 'f32' as const }),
      ...(args.scoreMax && { max: 'f32' as const }),
      ...(args.scoreSumExp && { sumExp: 'f32' as const }),
      ...(args.rngDump && { dropoutMask: 'f32' as const }),
    },
  });
  const stats = made.lse && args.statsUseLog2 ? inLog2(graph, made.lse, name) : made.lse;
  return {
    o: made.o,
    ...(stats && { stats }),
    ...(made.max && { scoreMax: made.max }),
    ...(made.sumExp && { scoreSumExp: made.sumExp }),
    ...(made.dropoutMask && { rngDump: made.dropoutMask }),
  };
}

/**
 * Adds cuDNN's node for the gradients of attention to a graph.
 * @throws as `sdpa`.
 */
export function sdpaBackward(graph: Graph, args: SdpaBackwardArguments): SdpaBackwardNode {
  checkArguments(graph, args, 'sdpaBackward');
  if (isComposite(args)) return addCompositeBackward(graph, args);
  const { q, k, v, o, dO, stats, name, bias, scoreMod } = args;
  const { dbias, dsink, dq, dk, dv } = addUnified(graph, {
    kind: 'SdpaBackward',
    ...(name && { name }),
    inputs: { q, k, v, o, lse: stats, dO },
    options: cudnnOptions(args),
    ...(scoreMod && { scoreMod }),
    results: {
      dq: q.dtype,
      dk: k.dtype,
      dv: v.dtype,
      ...(args.dBias && bias && { dbias: bias.dtype }),
      ...(args.dSinkToken && { dsink: 'f32' as const }),
    },
  });
  return { dq, dk, dv, ...(dbias && { dBias: dbias }), ...(dsink && { dSinkToken: dsink }) };
}

function inLog2(graph: Graph, stats: LogicalTensor, name: string | undefined): LogicalTensor {
  const { op, constant } = opWriter(graph, name && `${name}/log2`);
  return op('Multiply', [stats, constant(Math.LOG2E)]);
}
