import { checkObject, type SdpaBackwardOptions, type SdpaOptions } from '@tilewise/core';
import { omitUndefined } from '../../../ir/schema/omit-undefined.ts';
import type { AnyArguments } from './arguments.ts';

/**
 * The attention options equivalent to cuDNN's arguments, without score programs. `N` is the type of numbers
 * that may be tensors.
 */
export type CudnnOptions<T, N> = Omit<SdpaOptions<T>, 'scale' | 'dropout' | 'scoreMod'> &
  Pick<SdpaBackwardOptions<T>, 'raggedOffsets'> & {
    /** The factor of q·kᵀ, which is 1 if `attnScale` is absent. */
    readonly scale: number | N;
    /** Dropout by a seed and an offset, or by a mask. */
    readonly dropout?:
      | {
          /** The probability that a weight is dropped. */
          readonly p: number;
          /** 64-bit. */
          readonly seed: N;
          /** 64-bit; its unit is that of the dropout scheme. */
          readonly offset: N;
        }
      | {
          /** 1 = keep. */
          readonly mask: T;
          /** The factor of the weights that are kept. */
          readonly scale: N;
        };
  };

/**
 * Converts cuDNN's arguments to attention options. The scale defaults to 1, the left bound includes the
 * diagonal key, and an alignment without a bound masks nothing.
 * @throws InvalidArgumentError if the arguments are not an object.
 */
export function cudnnOptions<T, N>(args: Omit<AnyArguments<T, N>, 'q' | 'k' | 'v'>): CudnnOptions<T, N> {
  checkObject('args', args);
  const { attnScale = 1, dropout, raggedOffsets } = args;
  const lists = {
    bias: args.bias,
    blockMask: args.blockMask,
    sink: args.sinkToken,
    seqLensQ: args.seqLenQ,
    seqLensKv: args.seqLenKv,
    cuSeqLensQ: args.cuSeqLenQ,
    cuSeqLensKv: args.cuSeqLenKv,
    pageTableK: args.pagedAttentionKTable,
    pageTableV: args.pagedAttentionVTable,
    maxSeqLenQ: args.maxSeqLenQ,
    maxSeqLenKv: args.pagedAttentionMaxSeqLenKv ?? args.maxSeqLenKv,
    raggedOffsets,
    window: windowOf(args),
    alibi: args.useAlibiMask || undefined,
  };
  return {
    ...omitUndefined(lists),
    scale: attnScale,
    ...(dropout && {
      dropout:
        dropout.length === 3
          ? { p: dropout[0], seed: dropout[1], offset: dropout[2] }
          : { mask: dropout[0], scale: dropout[1] },
    }),
  };
}

/** The band as numbers of keys left and right of the diagonal key; undefined without a bound. */
function windowOf({
  diagonalAlignment = 'top-left',
  diagonalBandLeftBound: left,
  diagonalBandRightBound: right,
}: Omit<AnyArguments<unknown>, 'q' | 'k' | 'v'>): SdpaOptions['window'] {
  if (left === undefined && right === undefined) return undefined;
  return {
    ...(left !== undefined && { left: left - 1 }),
    ...(right !== undefined && { right }),
    align: diagonalAlignment,
  };
}
