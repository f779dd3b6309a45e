import type { KernelParts } from '../../codegen/dispatch-splits.ts';
import type { KernelSpec } from '../../codegen/kernel-spec.ts';
import type { ByteRange } from '../../device/byte-range.ts';
import type { ComputePass } from '../../device/compute-pass.ts';
import type { ExpectedTensor, PlanBuffer, PlanTensor } from './plan-tensors.ts';

/**
 * Kernels on one device, ready to be recorded any number of times. A plan submits nothing, maps nothing and
 * allocates no tensor. The parameters of a call lie in a small uniform buffer per dispatch, which is replaced
 * only when a parameter changes. `Options` are numbers that may change from one encode to the next.
 */
export interface KernelPlan<Options> {
  /** The tensors that `encode` needs, by name, besides the workspace. */
  readonly tensors: readonly PlanTensor[];
  /** Bytes of the buffer to pass as `workspace`; 0 when the plan needs none. The content need not be kept. */
  readonly workspaceBytes: number;
  /** The kernels in order, with their source. Kernels that gather small tensors for others come first. */
  readonly kernels: readonly KernelSpec[];
  /**
   * Whether all kernels that are likely to run are compiled: `encode` then compiles nothing and does not
   * block.
   */
  readonly isCompiled: boolean;
  /**
   * Records the work. Compiles the kernels that are not compiled yet, which may block for seconds: see
   * `warmUp`.
   * @throws InvalidArgumentError or InvalidShapeError naming a buffer that is missing, too small or
   * misaligned, or an option that is out of range; for a GpuTensor also, or InvalidDTypeError, when it does
   * not match the problem.
   */
  encode(
    target: GPUCommandEncoder | GPUComputePassEncoder,
    buffers: Readonly<Record<string, PlanBuffer>>,
    options?: Options,
  ): void;
  /** Checks the arguments of `encode` and keeps them, for a pass that is opened later. Throws as `encode`. */
  prepare(buffers: Readonly<Record<string, PlanBuffer>>, options?: Options): PlanRun;
  /**
   * Compiles all kernels in parallel and in the background. Plans and eager calls on the same device share
   * compiled kernels, so that the first eager call of the same problem does not compile any more. Rejects
   * with a TilewiseError: `UNSUPPORTED` when the device does not compile a kernel, `DEVICE_LOST` when the
   * device is lost.
   */
  warmUp(): Promise<void>;
  /** Frees the parameters of all recorded calls but the last. The calls must have been submitted. */
  retire(): void;
  /** Frees the parameters of all recorded calls. The calls must have been submitted. */
  destroy(): void;
}

/** A run of a plan on tensors that were checked. */
export interface PlanRun {
  /** Whether `encode` compiles nothing. */
  readonly isCompiled: boolean;
  /** Compiles what `encode` needs, in the background; rejects as `warmUp` does. */
  compile(): Promise<void>;
  /** Buffers that the run reads or writes. */
  readonly buffers: readonly GPUBuffer[];
  /** Bytes that the run writes. */
  readonly written: readonly ByteRange[];
  encode(pass: ComputePass): void;
}

/** Numbers that an encode sets, by name. */
export type PlanInputs = Readonly<Record<string, number>>;

/** The parts of a plan. */
export interface PlanParts<Options> extends KernelParts {
  /** The shape and dtype of a GpuTensor that is passed for a tensor, by name. */
  readonly expected?: Readonly<Record<string, ExpectedTensor>>;
  /** The values of the uniforms that an encode sets. An object that comes again has the same values. */
  readonly inputs?: (options: Options | undefined) => PlanInputs;
}
