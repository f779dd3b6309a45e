import type { KernelParts, KernelSpec } from '../../codegen/kernel-spec.ts';
import type { ByteRange } from '../../device/byte-range.ts';
import type { ComputePass } from '../../device/compute-pass.ts';
import type { BoundDispatch, PlanInputs } from './dispatch.ts';
import type { ExpectedTensor, PlanBuffer, PlanTensor } from './plan-tensors.ts';

/**
 * Kernels on one device, which can be recorded any number of times. A plan submits nothing, maps nothing and
 * allocates no tensors. The parameters of a call are in a small uniform buffer per dispatch, which is
 * replaced only when a parameter changes. `Options` are numbers that may change between calls of `encode`.
 */
export interface KernelPlan<Options> {
  /** The tensors that `encode` needs, except the workspace. */
  readonly tensors: readonly PlanTensor[];
  /**
   * The size in bytes of the buffer to pass as `workspace`; 0 if the plan needs none. The buffer's content
   * need not be kept between calls.
   */
  readonly workspaceBytes: number;
  /**
   * The kernels in order, with their source. Kernels that gather small tensors for other kernels come first.
   */
  readonly kernels: readonly KernelSpec[];
  /**
   * Whether all kernels that are likely to run have been compiled. If so, `encode` compiles nothing and does
   * not block.
   */
  readonly isCompiled: boolean;
  /**
   * Records the work. Compiles the kernels that have not been compiled yet, which may block for seconds;
   * `warmUp` avoids this.
   * @throws InvalidArgumentError or InvalidShapeError naming a buffer that is missing, too small or
   * misaligned, a result that shares bytes with another tensor which is needed later, or an option that is
   * out of range; for a GpuTensor that does not match the problem, also InvalidDTypeError.
   */
  encode(
    target: GPUCommandEncoder | GPUComputePassEncoder,
    buffers: Readonly<Record<string, PlanBuffer>>,
    options?: Options,
  ): void;
  /**
   * Checks the arguments of `encode` and keeps them for a pass that is opened later. Throws as `encode` does.
   */
  prepare(buffers: Readonly<Record<string, PlanBuffer>>, options?: Options): PlanRun;
  /**
   * The names of all tensors that the plan binds, including the workspace, for `prepareInOrder`.
   * @internal
   */
  readonly tensorOrder: readonly string[];
  /**
   * Does what `prepare` does, with a buffer for each name in `tensorOrder`, but does not check whether the
   * device is alive.
   * @internal
   */
  prepareInOrder(buffers: readonly PlanBuffer[], options?: Options): PlanRun;
  /** The kernels and the sizes of tensors that the plan is made from. @internal */
  readonly parts: PlanParts<Options>;
  /**
   * Compiles all kernels in parallel and in the background. Plans and eager calls on the same device share
   * compiled kernels, so the first eager call of the same problem, with results in the same layouts, compiles
   * nothing either. Rejects with a TilewiseError: `UNSUPPORTED` if the device fails to compile a kernel,
   * `DEVICE_LOST` if the device is lost.
   */
  warmUp(): Promise<void>;
  /** Frees the parameters of all recorded calls but the last. All these calls must have been submitted. */
  retire(): void;
  /** Frees the parameters of all recorded calls. All these calls must have been submitted. */
  destroy(): void;
}

/** Work that is ready to be recorded. */
export interface ReadyRun {
  /** Whether all kernels of the run are compiled, so that `encode` compiles nothing. */
  isCompiled(): boolean;
  /** Compiles the kernels of the run in the background; rejects as `warmUp` does. */
  compile(): Promise<void>;
  /** The buffers that the run reads or writes. */
  readonly buffers: readonly GPUBuffer[];
  /** The bytes that the run writes. */
  readonly written: readonly ByteRange[];
  encode(pass: ComputePass): void;
}

/** A run of a plan on tensors that have been checked. */
export interface PlanRun extends ReadyRun {
  /** The bytes that the run reads. */
  readonly read: readonly ByteRange[];
  /** The dispatches of the run. */
  readonly calls: readonly BoundDispatch[];
  /** The content of the `Params` uniform of a dispatch. */
  parametersOf(call: BoundDispatch): ArrayBuffer;
}

/** The parts of a plan. */
export interface PlanParts<Options> extends KernelParts {
  /** For each tensor, the shape and dtype that a GpuTensor passed for it must have. */
  readonly expected?: Readonly<Record<string, ExpectedTensor>>;
  /**
   * Returns the values of the uniforms that a call of `encode` sets. If it returns the same object again, the
   * values are unchanged.
   */
  inputs?(options: Options | undefined): PlanInputs;
}
