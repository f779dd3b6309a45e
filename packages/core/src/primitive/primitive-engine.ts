import type { Engine, Support } from '../engine/engine.ts';
import type { DType } from '../tensor/dtype.ts';
import type { Shape, Strides } from '../tensor/shape.ts';
import type { TensorDesc } from '../tensor/tensor.ts';
import type { Primitive } from './primitive.ts';

/** Runs what was prepared: reads the inputs and writes every element of the outputs, in place. Nothing is allocated. */
export type RunPrimitive<T> = (inputs: readonly T[], outputs: readonly T[]) => void;

/** The plain operations of an engine, on tensors that the caller provides. */
export interface Primitives<T extends TensorDesc = TensorDesc> {
  /** Why a primitive on such tensors could not be run. */
  checkSupport(primitive: Primitive, inputs: readonly TensorDesc[], outputs: readonly TensorDesc[]): Support;
  /**
   * Readies a primitive for tensors of these dtypes, shapes and strides; a device compiles its pipeline here.
   * @throws InvalidShapeError or InvalidDTypeError when the tensors do not fit the primitive.
   */
  prepare(
    primitive: Primitive,
    inputs: readonly TensorDesc[],
    outputs: readonly TensorDesc[],
  ): RunPrimitive<T>;
  /** A tensor of undefined contents; dense unless strides are given. `release` of the engine frees it. */
  allocate(desc: { readonly dtype: DType; readonly shape: Shape; readonly strides?: Strides }): T;
  /** The same memory under another shape and strides; `offset` elements after the first of `tensor`. */
  view(tensor: T, desc: { readonly shape: Shape; readonly strides: Strides; readonly offset?: number }): T;
}

/** An engine that runs plain operations as well as attention: all that a graph needs. */
export interface TensorEngine<T extends TensorDesc = TensorDesc> extends Engine<T> {
  readonly primitives: Primitives<T>;
}
