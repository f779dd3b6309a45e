import type { Engine, Support } from '../engine/engine.ts';
import type { Shape, Strides } from '../tensor/shape.ts';
import type { Tensor, TensorDesc } from '../tensor/tensor.ts';
import type { PartialDesc } from '../tensor/tensor-desc.ts';
import type { BoundWork } from './bound-work.ts';
import type { PrepareAttention } from './prepared-attention.ts';
import type { Primitive } from './primitive.ts';
import type { Recording } from './recording.ts';

/** A primitive that is ready to run on tensors of certain dtypes, shapes and strides, any number of times. */
export interface PreparedPrimitive<T> {
  /**
   * The bytes of memory that a run needs besides its tensors. Nothing in it needs to survive between runs.
   */
  readonly workspaceBytes: number;
  /**
   * Reads the inputs and writes every element of the outputs, in place (`tensor-scatter` writes only a part
   * of them). Nothing is allocated. An output may share the memory of an input if `canOverwrite` says so;
   * otherwise, on a device, outputs must not share memory with inputs. A run does not check that the tensors
   * have the dtypes, shapes and strides for which it was prepared.
   * @param workspace a tensor of at least `workspaceBytes`, required unless that is 0.
   */
  run(inputs: readonly T[], outputs: readonly T[], workspace?: T): void;
  /**
   * Prepares repeated runs on given tensors, with a workspace as for `run`. The returned work must not run
   * after one of the tensors or the workspace has been released. Null, or absent, if this saves nothing.
   */
  bind?(inputs: readonly T[], outputs: readonly T[], workspace?: T): BoundWork | null;
  /** Frees the resources that a device holds for it. */
  release(): void;
}

/** The memory of a tensor, and where its elements begin there. */
export interface Place {
  /** Identifies the memory: the same object for all tensors in that memory. */
  readonly memory: object;
  /** The byte offset of the first element. */
  readonly byteOffset: number;
}

/** The primitives of an engine, on tensors that the caller provides. */
export interface Primitives<T extends TensorDesc = TensorDesc> {
  /** Whether the engine can run a primitive on such tensors, and why not. */
  checkSupport(primitive: Primitive, inputs: readonly TensorDesc[], outputs: readonly TensorDesc[]): Support;
  /**
   * Prepares a primitive for tensors of these dtypes, shapes and strides.
   * @throws InvalidShapeError or InvalidDTypeError if the tensors do not fit the primitive; UnsupportedError
   * if `checkSupport` has reasons.
   */
  prepare(
    primitive: Primitive,
    inputs: readonly TensorDesc[],
    outputs: readonly TensorDesc[],
  ): PreparedPrimitive<T>;
  /**
   * Joins bound works of this engine into one work with the results of all of them in order, in less time
   * than one by one. The result must not run after one of the works has been released. Null, or absent, if
   * this saves nothing; on a device also while the code for it is loaded.
   */
  join?(works: readonly BoundWork[]): BoundWork | null;
  /**
   * A new tensor with undefined contents; dense unless strides are given. The engine's `release` frees it.
   */
  allocate(desc: PartialDesc): T;
  /**
   * Whether the device turned out to have no memory for a tensor of `allocate` or `upload`. Work on such a
   * tensor fails: allocate another. Absent if `allocate` and `upload` throw at once.
   */
  isLost?(tensor: T): boolean;
  /**
   * A view of a tensor's memory with another shape and other strides, which starts `offset` elements after
   * the first element of `tensor`.
   */
  view(
    tensor: T,
    desc: { readonly shape: Shape; readonly strides: Strides; readonly offset?: number | undefined },
  ): T;
  /**
   * The memory and offset of a tensor.
   * @param argument the name of the tensor in errors.
   * @throws InvalidArgumentError for a tensor of another engine or a destroyed one, if the engine can tell.
   */
  placeOf(tensor: T, argument?: string): Place;
}

/** An engine that runs primitives as well as attention, which is all that a graph needs. */
export interface TensorEngine<T extends TensorDesc = TensorDesc> extends Engine<T> {
  /** Prepares and runs primitives on the engine's tensors. */
  readonly primitives: Primitives<T>;
  /**
   * Runs the operations that `work` starts before it returns as one batch: a device submits all of them at
   * once. Before a call of `sdpa` or `sdpaBackward` in `work`, a device submits the operations so far.
   */
  batch(work: () => void): void;
  /**
   * Replaces the contents of a tensor from `upload` by those of a host tensor of the same dtype, shape and
   * strides, after all work that has been submitted. Returns false, and writes nothing, if the tensors differ
   * in one of these, if the tensor is a view, if work that may use the tensor waits to be submitted or, on
   * the host, is not done, or if `upload` would return the host tensor itself. Absent from engines that use
   * host tensors themselves.
   */
  overwrite?(tensor: T, from: Tensor): boolean;
  /**
   * Prepares attention for the tensors of a problem, which it reads and writes in place. Results have the
   * layouts that the problem describes. Absent from the reference.
   * @throws UnsupportedError if `checkSupport` has reasons.
   */
  readonly prepareAttention?: PrepareAttention<T>;
  /** Present on engines of a device; an engine on the host has no commands to record. */
  readonly recording?: Recording;
}
