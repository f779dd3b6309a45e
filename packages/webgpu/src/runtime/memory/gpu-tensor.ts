/// <reference lib="esnext.disposable" preserve="true" />
import {
  type DType,
  InvalidArgumentError,
  listText,
  type Shape,
  type Strides,
  type TensorDesc,
} from '@tilewise/core';
import { type Fault, faultOfBytes } from '../../device/gpu-work.ts';
import { bytesOf } from './tensor-storage.ts';

/** The context of a tensor, as far as the tensor uses it. */
export interface TensorOwner {
  readonly device: GPUDevice;
  view(tensor: GpuTensor, desc: { readonly shape: Shape; readonly strides: Strides }): GpuTensor;
  release(tensor: GpuTensor): void;
}

/**
 * A tensor in a GPU buffer: `byteOffset` bytes in, with strides in elements. Made by a context, never by
 * hand.
 */
export class GpuTensor implements TensorDesc {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly strides: Strides;
  readonly buffer: GPUBuffer;
  readonly byteOffset: number;
  readonly context: TensorOwner;
  /** Whether the context made the buffer for this tensor, so that `destroy` gives it back. */
  readonly owned: boolean;

  constructor(
    context: TensorOwner,
    place: { readonly buffer: GPUBuffer; readonly byteOffset: number; readonly owned: boolean },
    desc: TensorDesc,
  ) {
    this.context = context;
    this.buffer = place.buffer;
    this.byteOffset = place.byteOffset;
    this.owned = place.owned;
    this.dtype = desc.dtype;
    this.shape = desc.shape;
    this.strides = desc.strides;
  }

  /**
   * The error on the GPU while the tensor's present content was computed, once it is known; `download`
   * rejects with the error.
   */
  get fault(): Fault {
    return faultOfBytes(bytesOf(this));
  }

  /**
   * The dimensions in another order; a view on the same buffer.
   * @throws InvalidArgumentError when `order` does not name each dimension once.
   */
  permute(...order: number[]): GpuTensor {
    const rank = this.shape.length;
    if (order.length !== rank || this.shape.some((_, d) => !order.includes(d))) {
      const rule = `must be a permutation of 0..${rank - 1}, got ${listText(order)}`;
      throw new InvalidArgumentError('order', rule);
    }
    return this.context.view(this, {
      shape: order.map(d => this.shape[d]),
      strides: order.map(d => this.strides[d]),
    });
  }

  /**
   * Gives the memory back to the context for reuse. A tensor that is not destroyed keeps its GPU memory until
   * its context is destroyed, also when nothing refers to the tensor any more. No effect on a wrapped buffer
   * and on a view.
   */
  destroy(): void {
    this.context.release(this);
  }

  /** `destroy`, for `using`. */
  [Symbol.dispose](): void {
    this.destroy();
  }
}
