import type { AttentionProblem, BackwardProblem, OperandDesc } from '@tilewise/core';
import type { Fp8Readers, OperandRow } from '@tilewise/core/engine';
import type { InSegments } from '../../codegen/binding-limits/segments.ts';
import type { BindingBudget } from '../../codegen/binding-pressure.ts';
import type { KernelSpec } from '../../codegen/kernel-spec.ts';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { OperandAccess } from '../layout/operand.ts';
import type { PagePart } from '../layout/pages.ts';
import type { KernelOperands } from '../layout/sequence.ts';
import type { ModStages } from '../score/stage.ts';
import type { LaneGrid, ScoreVectors } from '../tiles/scores/score-vectors.ts';
import type { Tile } from '../tiles/tile.ts';
import type { AmaxName, Fp8Arithmetic } from './fp8-steps.ts';

/** Settings for making the kernels of one problem. */
export interface KernelConfig extends OperandAccess {
  readonly tools: KernelTools;
  /** Decides which small tensors are gathered, if a kernel has too many bindings. */
  readonly bindingBudget: BindingBudget;
}

/** Settings for making a kernel that can run on different tiles. */
export interface TileConfig extends KernelConfig {
  readonly tile: Tile;
}

/**
 * Makes the kernels of options that few programs use. Plans and engines, which get options as plain data,
 * have all of these tools. An eager call has only the tools of its own options: values of FP8 bring their
 * tools along, and the others are loaded modules, so that a program without these options does not contain
 * their kernels.
 */
export interface KernelTools {
  readonly dropout?: DropoutTools;
  /** Writes score and mask mods as WGSL. */
  readonly mods?: ModStages;
  /** Makes the kernels of the gradients of the tensors that a score mod loads. */
  readonly captureGradients?: SumTools;
  /** Makes the kernels of dbias, dAlibi and dsink. */
  readonly inputGradients?: SumTools;
  /** If it is missing, one workgroup computes all keys of a tile. */
  readonly splitKv?: SplitKvTools;
  readonly pages?: PagePart;
  /** If it is missing, kernels bind each tensor as a whole. */
  readonly segments?: InSegments;
  readonly fp8?: Fp8Tools;
  /** Present only together with `fp8`. */
  readonly mxfp8?: Mxfp8Tools;
}

/** Generates dropout masks. */
export interface DropoutTools {
  /** See `dropoutPart`. */
  part(problem: AttentionProblem): ShaderPart | null;
  /**
   * Statements that compute the `weight` of a lane's vec4s, dropout(P), from the probabilities `p0`, `p1`, …;
   * `declareRow` makes statements that declare the `head` and the `query` of a row.
   */
  weights(vectors: ScoreVectors, declareRow: (row: string) => string): string;
  /** The kernel that writes the mask as a result. */
  maskKernel(problem: AttentionProblem): KernelSpec;
}

/**
 * Makes the kernels of gradients that are sums over many scores or rows. They may run on the tile of dQ, if
 * the device has room for it and for the sums.
 */
export interface SumTools {
  /** @param config has the tile of dQ. */
  kernels(problem: BackwardProblem, config: TileConfig, capabilities: Capabilities): KernelSpec[];
  /** The number of vectors that these kernels use in the region `partialSums` of the workspace. */
  vectors(problem: BackwardProblem, dq: Tile, capabilities: Capabilities): number;
}

/**
 * The end of a forward kernel: the code that stores m, l and the accumulators, and the shader parts that it
 * needs.
 */
export interface ForwardFinish {
  readonly code: string;
  readonly operands: KernelOperands;
  readonly parts: readonly ShaderPart[];
}

/**
 * Makes kernels in which several workgroups share the keys of a tile (the split-KV of "Flash-Decoding",
 * 2023).
 */
export interface SplitKvTools {
  /**
   * The end of a kernel that stores its partial result in the workspace. `declareRow`: statements that
   * declare the `head` and the `query` of the lane's row `r`.
   */
  finish(problem: AttentionProblem, tile: Tile, parts: number, declareRow: string): ForwardFinish;
  /** WGSL of `part_of(keys, part)`, the range of keys of one part, in whole tiles of `cols` keys. */
  range(cols: number): string;
  mergeKernel(problem: AttentionProblem, parts: number, config: KernelConfig): KernelSpec;
}

/** Reads the options for 8 bits, and makes the kernels of FP8. */
export interface Fp8Tools {
  readonly readers: Fp8Readers;
  readonly arithmetic: Fp8Arithmetic;
  /**
   * The kernels that set the measured largest values to 0 before other kernels update them; none if no value
   * is measured.
   */
  clearAmaxKernels(measured: readonly AmaxName[]): KernelSpec[];
  /** The kernel that computes o of an FP8 problem, given its lse. */
  outputKernel(problem: AttentionProblem, config: KernelConfig): KernelSpec;
}

/**
 * Converts problems with block scales to problems with dequantised operands, whose kernels are those of FP8.
 */
export interface Mxfp8Tools {
  /** The problem with q, k and v dequantised in the workspace; null for a problem without block scales. */
  dequantisedProblem(problem: AttentionProblem): AttentionProblem | null;
  dequantisedBackward(problem: BackwardProblem): BackwardProblem | null;
  /** The kernels that dequantise the operands of a pass; none without block scales. */
  dequantiseKernels(
    problem: AttentionProblem,
    pass: 'forward' | 'backward',
    config: KernelConfig,
  ): KernelSpec[];
  /** Redirects a kernel of a dequantised problem to the regions of the workspace. */
  onWorkspace(kernel: KernelSpec): KernelSpec;
  /** The operands of a dequantised backward problem that were quantised along positions. */
  roundedAlongPositions(problem: AttentionProblem): Readonly<Record<'qT' | 'kT' | 'dOT', OperandDesc>>;
  /** The rows of the operand table for the tensors of the option `mxfp8`. */
  readonly operands: Readonly<Record<string, OperandRow>>;
  /** The number of elements of each region of the workspace that holds a dequantised operand, by name. */
  regions(problem: AttentionProblem): Readonly<Record<string, number>>;
  blockRoundingPart(problem: AttentionProblem): ShaderPart;
  /** Statements that round dS in blocks of 32 keys of one query, or of 32 queries of one key. */
  roundBlocks(grid: LaneGrid, along: 'keys' | 'queries', vectors: ScoreVectors): string;
}
