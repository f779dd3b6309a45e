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

/** The parts of a context that a tensor uses. */
export interface TensorOwner {
  readonly device: GPUDevice;
  view(tensor: GpuTensor, desc: { readonly shape: Shape; readonly strides: Strides }): GpuTensor;
  release(tensor: GpuTensor): void;
}

/** The state of a tensor's memory, which the tensor's views share. */
export interface MemoryState {
  /** Whether the memory has been given back to the context. */
  isReleased: boolean;
}

/** The place of a tensor: `byteOffset` bytes into a buffer. */
interface Place {
  readonly buffer: GPUBuffer;
  readonly byteOffset: number;
  readonly owned: boolean;
  /** The tensor whose memory a view shows. */
  readonly viewed?: GpuTensor;
}

/**
 * The state of a tensor's memory. The state is a field, because a WeakSet of released tensors cost an eager
 * call about 3 µs.
 */
export let memoryState: (tensor: GpuTensor) => MemoryState;

/** @throws InvalidArgumentError if the memory of a tensor has been given back. */
export function checkNotDestroyed(argument: string, { isReleased }: MemoryState): void {
  if (isReleased) throw new InvalidArgumentError(argument, 'was destroyed');
}

/**
 * A tensor in a GPU buffer. It starts at `byteOffset` bytes and has strides in elements. Only a context makes
 * GpuTensors.
 */
export class GpuTensor implements TensorDesc {
  /** How elements are stored. */
  readonly dtype: DType;
  /** The extent of each dimension. */
  readonly shape: Shape;
  /** Elements from one index to the next, for each dimension; 0 if the dimension is broadcast. */
  readonly strides: Strides;
  /** The buffer, which other tensors may share. */
  readonly buffer: GPUBuffer;
  /** The first byte of the tensor in the buffer. */
  readonly byteOffset: number;
  /** The context that made the tensor. */
  readonly context: TensorOwner;
  /** Whether the context allocated the buffer for this tensor, so that `destroy` gives it back. */
  readonly owned: boolean;
  readonly #state: MemoryState;

  static {
    memoryState = tensor => tensor.#state;
  }

  /** Use the methods of a context. @internal */
  constructor(context: TensorOwner, place: Place, desc: TensorDesc) {
    this.context = context;
    this.buffer = place.buffer;
    this.byteOffset = place.byteOffset;
    this.owned = place.owned;
    this.dtype = desc.dtype;
    this.shape = desc.shape;
    this.strides = desc.strides;
    this.#state = place.viewed ? place.viewed.#state : { isReleased: false };
  }

  /**
   * The error of the GPU work that computed the tensor's current content, once it is known; `download`
   * rejects with this error.
   */
  get fault(): Fault {
    return faultOfBytes(bytesOf(this));
  }

  /**
   * A view of the same buffer with the dimensions in another order.
   * @throws InvalidArgumentError if `order` does not name each dimension once.
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
   * its context is destroyed, even if nothing refers to the tensor any more. Has no effect on a wrapped
   * buffer or a view.
   */
  destroy(): void {
    this.context.release(this);
  }

  /** Calls `destroy`; for `using`. */
  [Symbol.dispose](): void {
    this.destroy();
  }
}
