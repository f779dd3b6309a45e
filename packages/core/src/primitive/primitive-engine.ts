import type { Engine, Support } from '../engine/engine.ts';
import type { Shape, Strides } from '../tensor/shape.ts';
import type { TensorDesc } from '../tensor/tensor.ts';
import type { PartialDesc } from '../tensor/tensor-desc.ts';
import type { PrepareAttention } from './prepared-attention.ts';
import type { Primitive } from './primitive.ts';
import type { Recording } from './recording.ts';

/** A primitive that is ready to run on tensors of certain dtypes, shapes and strides, any number of times. */
export interface PreparedPrimitive<T> {
  /** Bytes of memory that a run needs beside its tensors; what is in it need not be kept. */
  readonly workspaceBytes: number;
  /**
   * Reads the inputs and writes every element of the outputs, in place (`tensor-scatter` only a part of
   * them). Nothing is allocated. An output may lie where an input lies if `canOverwrite` says so; on a
   * device, outputs must not share memory with inputs otherwise.
   * @param workspace a tensor of `workspaceBytes` or more, where that is not 0.
   */
  run(inputs: readonly T[], outputs: readonly T[], workspace?: T): void;
  /** Frees what a device keeps for it. */
  release(): void;
}

/** Where the storage of a tensor begins. */
export interface Place {
  /** Identifies the memory: the same object for all tensors in that memory. */
  readonly memory: object;
  /** The byte offset of the first element. */
  readonly byteOffset: number;
}

/** The plain operations of an engine, on tensors that the caller provides. */
export interface Primitives<T extends TensorDesc = TensorDesc> {
  /** Why a primitive on such tensors could not be run. */
  checkSupport(primitive: Primitive, inputs: readonly TensorDesc[], outputs: readonly TensorDesc[]): Support;
  /**
   * Readies a primitive for tensors of these dtypes, shapes and strides.
   * @throws InvalidShapeError or InvalidDTypeError when the tensors do not fit the primitive;
   * UnsupportedError when `checkSupport` has reasons.
   */
  prepare(
    primitive: Primitive,
    inputs: readonly TensorDesc[],
    outputs: readonly TensorDesc[],
  ): PreparedPrimitive<T>;
  /** A tensor of undefined contents; dense unless strides are given. `release` of the engine frees it. */
  allocate(desc: PartialDesc): T;
  /**
   * A view with another shape and other strides on the memory of a tensor; `offset` elements after the first
   * of `tensor`.
   */
  view(
    tensor: T,
    desc: { readonly shape: Shape; readonly strides: Strides; readonly offset?: number | undefined },
  ): T;
  /**
   * Where a tensor lies.
   * @param argument the name of the tensor in errors.
   * @throws InvalidArgumentError for a tensor of another engine or one that was destroyed, where the engine
   * can tell.
   */
  placeOf(tensor: T, argument?: string): Place;
}

/** An engine that runs plain operations as well as attention: all that a graph needs. */
export interface TensorEngine<T extends TensorDesc = TensorDesc> extends Engine<T> {
  readonly primitives: Primitives<T>;
  /** Runs as one what `work` runs before it returns: a device submits all of it at once. */
  batch(work: () => void): void;
  /**
   * Readies attention for the tensors of a problem, which it reads and writes in place; results lie as the
   * problem says, on an engine of the host dense. The reference has no such.
   * @throws UnsupportedError when `checkSupport` has reasons.
   */
  readonly prepareAttention?: PrepareAttention<T>;
  /** Present on engines of a device; an engine on the host has nothing to record in. */
  readonly recording?: Recording;
}
