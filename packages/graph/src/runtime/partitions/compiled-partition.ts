import type { TensorDesc } from '@tilewise/core';
import type { WorkTrace } from '@tilewise/core/engine';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { Bindable } from '../bindings/bindable.ts';
import type { Bindings } from '../bindings/bindings.ts';
import type { BoundTensors } from '../executable/bound-tensors.ts';

/** A compiled partition, ready to run on an engine. */
export interface CompiledPartition<T extends TensorDesc = TensorDesc> {
  /** The inputs, with the shapes that the partition was compiled for. */
  readonly inputs: readonly LogicalTensor[];
  /** The outputs, with inferred shapes. */
  readonly outputs: readonly LogicalTensor[];
  /**
   * `attention`: one call of the engine's attention, without a score matrix. `operations`: a sequence of
   * primitives.
   */
  readonly kernel: 'attention' | 'operations';
  /** Why operations that were recognised as attention do not run as attention; empty if they do. */
  readonly reasons: readonly string[];
  /** Memory for intermediate results in bytes, held until `release`. */
  readonly workspaceBytes: number;
  /** Whether an output may be bound to the memory of an input; both are given by id. */
  overwrites(output: number, input: number): boolean;
  /**
   * Runs the partition after earlier executions.
   * @param bindings the inputs by tensor id: the engine's tensors, host tensors (which are uploaded), or
   * numbers for scalars. Outputs may be bound too; an unbound output is allocated.
   * @returns the outputs by id.
   * @throws InvalidArgumentError, InvalidDTypeError or InvalidShapeError for a tensor that is missing or
   * differs from the compiled description, a number that its dtype cannot hold, or an id that no tensor of
   * the graph has; InvalidArgumentError after `release`.
   */
  execute(bindings: Bindings<Bindable<T>>): Promise<Record<number, T>>;
  /**
   * Records the partition in the caller's encoder, on an engine that has encoders. Nothing is submitted or
   * read back, and no tensor is allocated; a number that is bound for the first time takes a few bytes until
   * `release`.
   * @param target on WebGPU, a GPUCommandEncoder or GPUComputePassEncoder.
   * @param bindings like those of `execute`, but with all outputs; only scalars may be numbers or host
   * tensors.
   * @throws the errors of `execute`; UnsupportedError on a host engine.
   */
  encode(target: object, bindings: Bindings<Bindable<T>>): void;
  /**
   * The part of `encode` that may fail: checks the bindings and prepares everything that depends on numbers.
   * @returns a function that records the partition in an encoder, on these bindings.
   * @throws the errors of `encode`, except those of the target.
   */
  prepareEncode(bindings: Bindings<Bindable<T>>): (target: object) => void;
  /**
   * Prepares to run the partition on tensors that a graph has checked, including the partition's outputs, so
   * that several partitions can run in one `batch` of the engine.
   * @returns a function that runs the partition, to be called before anything else runs; null if the
   * partition cannot run immediately, because a number must be read back first or another execution is in
   * progress.
   * @internal
   */
  prepareRun(bound: BoundTensors<T>): (() => void) | null;
  /**
   * Runs the partition on tensors that a graph has checked, including the partition's outputs, after earlier
   * executions.
   * @param trace receives the names of the steps that a host engine runs.
   * @returns a promise if the partition cannot run immediately.
   * @internal
   */
  runBound(bound: BoundTensors<T>, trace?: WorkTrace): Promise<void> | void;
  /**
   * Frees the memory after pending executions, unless another holder of the same partition still needs it.
   * Submit encoded work before this call. The partition cannot run afterwards.
   */
  release(): void;
}

/** Runs a compiled partition or graph once, then releases it. */
export async function executeOnce<T extends TensorDesc>(
  compiled: Pick<CompiledPartition<T>, 'execute' | 'release'>,
  bindings: Bindings<Bindable<T>>,
): Promise<Record<number, T>> {
  try {
    return await compiled.execute(bindings);
  } finally {
    compiled.release();
  }
}
