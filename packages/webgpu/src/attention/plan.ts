import {
  type AttentionProblem,
  dtypeTraits,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  type OperandDesc,
  type Support,
  type U64Words,
  UnsupportedError,
} from '@tilewise/core';
import type { GpuContext } from '../device/context.ts';
import { makeKernelPlan, type PlanBuffer, type PlanTensor } from '../kernel/kernel-plan.ts';
import type { KernelSpec } from '../kernel/kernel-spec.ts';
import { overlapsItself } from './tensors.ts';

/** Numbers that may change from one encode to the next without a new plan. */
export interface EncodeOptions {
  /** 64-bit words of the dropout seed and offset. Default: those of the problem. */
  readonly seed?: U64Words;
  readonly offset?: U64Words;
}

/**
 * Attention on one device, ready to be recorded any number of times. Nothing is submitted, mapped or allocated for tensors;
 * the parameters of a call lie in a small uniform buffer per kernel, made anew only when they change.
 */
export interface Plan {
  /** What `encode` needs, by name, besides the workspace. */
  readonly tensors: readonly PlanTensor[];
  /** Bytes of the buffer to pass as `workspace`; 0 when none is needed. Its content need not be kept. */
  readonly workspaceBytes: number;
  /** The kernels in order, with their source; those first that gather small tensors for crowded ones. */
  readonly kernels: readonly KernelSpec[];
  /**
   * Records the work.
   * @throws InvalidArgumentError or InvalidShapeError naming a buffer that is missing, too small or misaligned.
   */
  encode(
    target: GPUCommandEncoder | GPUComputePassEncoder,
    buffers: Readonly<Record<string, PlanBuffer>>,
    options?: EncodeOptions,
  ): void;
  /** Compiles all kernels in the background. Without it the first `encode` compiles. */
  warmUp(): Promise<void>;
  /** Frees the parameters of all recorded calls but the last; they must have been submitted. */
  retire(): void;
  /** Frees the parameters of all recorded calls; they must have been submitted. */
  destroy(): void;
}

/** Choices of a plan that the problem does not hold. */
export interface PlanOptions {
  /**
   * Tensors whose slices may start at any element. Others must start at a multiple of four elements (see `tensors`), so
   * that they can be moved in vectors.
   */
  readonly unaligned?: Iterable<string>;
}

/** @throws UnsupportedError with the reasons. */
export function demandSupport({ supported, reasons }: Support): void {
  if (!supported) throw new UnsupportedError('webgpu', reasons);
}

/** A result has the shape of what it is (packed and ragged ones any number of tokens), and a place for each element. */
export function checkResultLayout(argument: string, desc: OperandDesc, dense: OperandDesc['shape']): void {
  const [, H, , D] = dense;
  const shape = desc.starts === 'strided' ? dense : ([1, H, desc.shape[2], D] as const);
  if (dtypeTraits[desc.dtype]?.kind !== 'float') {
    throw new InvalidDTypeError(argument, `must be a float dtype, got ${desc.dtype}`);
  }
  if (desc.shape.some((n, d) => n !== shape[d])) {
    throw new InvalidShapeError(argument, `must have shape [${shape}], got [${desc.shape}]`);
  }
  if (overlapsItself(desc)) {
    throw new InvalidArgumentError(
      argument,
      `must have a place for each element, got strides [${desc.strides}] for shape [${shape}]`,
    );
  }
}

/** The plan of some kernels of a problem; `spans` as for `makeKernelPlan`. */
export function makePlan(
  ctx: GpuContext,
  kernels: readonly KernelSpec[],
  spans: Readonly<Record<string, number>>,
  { dropout }: AttentionProblem,
): Plan {
  const plan = makeKernelPlan(ctx, kernels, spans);
  const drawn = dropout?.kind === 'philox' ? dropout : { seed: [0, 0] as const, offset: [0, 0] as const };
  return {
    kernels: plan.kernels,
    tensors: plan.tensors.filter(({ name }) => name !== 'workspace'),
    workspaceBytes: plan.tensors.find(({ name }) => name === 'workspace')?.bytes ?? 0,
    encode(target, buffers, { seed = drawn.seed, offset = drawn.offset } = {}) {
      plan.encode(target, buffers, {
        seedLow: seed[0],
        seedHigh: seed[1],
        offsetLow: offset[0],
        offsetHigh: offset[1],
      });
    },
    warmUp: plan.warmUp,
    retire: plan.retire,
    destroy: plan.destroy,
  };
}
