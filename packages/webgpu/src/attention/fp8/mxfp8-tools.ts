import { mxfp8OperandTable } from '@tilewise/core';
import type { Mxfp8Tools } from '../config/kernel-config.ts';
import { blockRoundingPart, roundBlocks } from './block-rounding.ts';
import {
  dequantisedBackward,
  dequantisedProblem,
  dequantiseKernels,
  mxfp8Regions,
  onWorkspace,
  roundedAlongPositions,
} from './mxfp8.ts';

export const mxfp8Tools: Mxfp8Tools = {
  dequantisedProblem,
  dequantisedBackward,
  dequantiseKernels,
  onWorkspace,
  roundedAlongPositions,
  operands: mxfp8OperandTable,
  regions: mxfp8Regions,
  blockRoundingPart,
  roundBlocks,
};
