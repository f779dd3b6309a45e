import type { Mxfp8Tools } from '../kernel-config.ts';
import { blockRoundingPart, roundBlocks } from './block-rounding.ts';
import {
  dequantisedBackward,
  dequantisedProblem,
  dequantiseKernels,
  mxfp8Spans,
  onWorkspace,
  roundedAlongPositions,
} from './mxfp8.ts';

export const mxfp8Tools: Mxfp8Tools = {
  dequantisedProblem,
  dequantisedBackward,
  dequantiseKernels,
  onWorkspace,
  roundedAlongPositions,
  spans: mxfp8Spans,
  blockRoundingPart,
  roundBlocks,
};
