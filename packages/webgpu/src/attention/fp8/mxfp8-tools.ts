import { blockRoundingPart, isBlockTile, roundBlocks } from './block-rounding.ts';
import {
  dequantisedBackward,
  dequantisedProblem,
  dequantiseKernels,
  mxfp8Spans,
  onWorkspace,
  roundedAlongPositions,
} from './mxfp8.ts';

/** What turns problems with block scales into such of dequantised operands, whose kernels are those of FP8. */
export interface Mxfp8Tools {
  readonly dequantisedProblem: typeof dequantisedProblem;
  readonly dequantisedBackward: typeof dequantisedBackward;
  readonly dequantiseKernels: typeof dequantiseKernels;
  readonly onWorkspace: typeof onWorkspace;
  readonly roundedAlongPositions: typeof roundedAlongPositions;
  readonly spans: typeof mxfp8Spans;
  readonly blockRoundingPart: typeof blockRoundingPart;
  readonly roundBlocks: typeof roundBlocks;
  readonly isBlockTile: typeof isBlockTile;
}

export const mxfp8Tools: Mxfp8Tools = {
  dequantisedProblem,
  dequantisedBackward,
  dequantiseKernels,
  onWorkspace,
  roundedAlongPositions,
  spans: mxfp8Spans,
  blockRoundingPart,
  roundBlocks,
  isBlockTile,
};
