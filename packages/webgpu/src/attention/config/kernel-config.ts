import type { AttentionProblem, BackwardProblem, Fp8Reading, OperandDesc, OperandRow } from '@tilewise/core';
import type { BindingBudget } from '../../codegen/binding-pressure.ts';
import type { KernelSpec } from '../../codegen/kernel-spec.ts';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import type { AmaxName, Fp8Arithmetic } from '../fp8/fp8-steps.ts';
import type { OperandAccess } from '../layout/operand.ts';
import type { PagePart } from '../layout/pages.ts';
import type { WithSegments } from '../layout/segments.ts';
import type { KernelOperands } from '../layout/sequence.ts';
import type { ModStages } from '../score/stage.ts';
import type { LaneGrid, Tile } from '../tiles/tile.ts';

/** How kernels of one problem are made. */
export interface KernelConfig extends OperandAccess {
  readonly tools: KernelTools;
  /** Decides which small tensors a kernel with too many bindings does not bind. */
  readonly bindingBudget: BindingBudget;
}

/** How a kernel on a tile that may be chosen is made. */
export interface TileConfig extends KernelConfig {
  readonly tile: Tile;
}

/**
 * Makes the kernels of options that few programs use. Plans and engines, which see options as plain data,
 * have all of these tools. An eager call has the tools of its own options: values of FP8 bring theirs along,
 * and others are loaded, so that a program without these options does not hold their kernels.
 */
export interface KernelTools {
  readonly dropout?: DropoutTools;
  /** Writes score and mask mods as WGSL. */
  readonly mods?: ModStages;
  /** Makes the kernels of the gradients of the tensors that a score mod loads. */
  readonly captureGradients?: SumTools;
  /** Makes the kernels of dbias, dAlibi and dsink. */
  readonly inputGradients?: SumTools;
  /** Without it, keys are not shared among workgroups. */
  readonly splitKv?: SplitKvTools;
  readonly pages?: PagePart;
  /** Without it, kernels bind the whole of every tensor. */
  readonly segments?: WithSegments;
  readonly fp8?: Fp8Tools;
  /** Never without `fp8`. */
  readonly mxfp8?: Mxfp8Tools;
}

/** Draws dropout masks. */
export interface DropoutTools {
  /** See `dropoutPart`. */
  part(problem: AttentionProblem): ShaderPart | null;
  /** The kernel that writes the mask as a result. */
  maskKernel(problem: AttentionProblem): KernelSpec;
}

/** Makes the kernels of gradients that are sums over many scores or rows. */
export interface SumTools {
  kernels(problem: BackwardProblem, config: KernelConfig): KernelSpec[];
  /** Vectors that these kernels take in the region `partialSums` of the workspace. */
  vectors(problem: BackwardProblem): number;
}

/**
 * The end of a forward kernel: what is stored of m, l and the accumulators, and the parts that this takes.
 */
export interface ForwardFinish {
  readonly code: string;
  readonly operands: KernelOperands;
  readonly parts: readonly ShaderPart[];
}

/** Makes the kernels of keys that several workgroups share (the split-KV of "Flash-Decoding", 2023). */
export interface SplitKvTools {
  /**
   * The end of a kernel that leaves its part in the workspace. `rowPlace`: statements that declare `head` and
   * `query` of the lane's row `r`.
   */
  finish(problem: AttentionProblem, tile: Tile, parts: number, rowPlace: string): ForwardFinish;
  /** WGSL of `part_of(keys, part)`, the range of keys of one part, in tiles of `cols` keys. */
  range(cols: number): string;
  mergeKernel(problem: AttentionProblem, parts: number, config: KernelConfig): KernelSpec;
}

/** Reads the options of 8 bits, and makes the kernels of FP8. */
export interface Fp8Tools {
  readonly reading: Fp8Reading;
  readonly arithmetic: Fp8Arithmetic;
  /**
   * The kernels that set the largest values to 0 before others are measured; none where no value is measured.
   */
  clearAmaxKernels(measured: readonly AmaxName[]): KernelSpec[];
  /** The kernel that computes o of an FP8 problem from lse. */
  outputKernel(problem: AttentionProblem, config: KernelConfig): KernelSpec;
}

/**
 * Turns problems with block scales into problems with dequantised operands, whose kernels are those of FP8.
 */
export interface Mxfp8Tools {
  /** The problem once q, k and v lie dequantised in the workspace; null for one without block scales. */
  dequantisedProblem(problem: AttentionProblem): AttentionProblem | null;
  dequantisedBackward(problem: BackwardProblem): BackwardProblem | null;
  /** The kernels that dequantise the operands of a pass; none without block scales. */
  dequantiseKernels(
    problem: AttentionProblem,
    pass: 'forward' | 'backward',
    config: KernelConfig,
  ): KernelSpec[];
  /** A kernel of a dequantised problem on the regions of the workspace. */
  onWorkspace(kernel: KernelSpec): KernelSpec;
  /** The operands of a dequantised backward problem as they are rounded along positions. */
  roundedAlongPositions(problem: AttentionProblem): Readonly<Record<'qT' | 'kT' | 'dOT', OperandDesc>>;
  /** Rows of the operand table for the tensors of the option `mxfp8`. */
  readonly operands: Readonly<Record<string, OperandRow>>;
  /** Elements of the regions of the workspace that hold dequantised operands, by name. */
  regions(problem: AttentionProblem): Readonly<Record<string, number>>;
  blockRoundingPart(problem: AttentionProblem): ShaderPart;
  /** Statements that round dS in blocks of 32 keys of a query, or 32 queries of a key. */
  roundBlocks(grid: LaneGrid, along: 'keys' | 'queries'): string;
}
