/// <reference lib="esnext.disposable" preserve="true" />
import {
  bytesSpanned,
  type DType,
  InvalidArgumentError,
  type Shape,
  type Strides,
  sameShape,
  type Tensor,
  type TensorDesc,
  type TilewiseError,
} from '@tilewise/core';
import { checkDesc, copiedDesc, type HostArray } from '@tilewise/core/engine';
import { BufferPool, type MemoryUse } from '../../device/buffer-pool.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import { checkKind } from '../../device/check-kind.ts';
import type { PassTrace } from '../../device/compute-pass.ts';
import { deviceLost } from '../../device/faults.ts';
import { gpuWork, submitWork, touch } from '../../device/gpu-work.ts';
import { workQueue } from '../../device/work-queue.ts';
import { checkNotDestroyed, GpuTensor, memoryState, type TensorOwner } from './gpu-tensor.ts';
import { LeakWatch } from './leak-watch.ts';
import { type ViewDesc, viewPlacement, type WrapDesc, wrappedPlacement } from './placement.ts';
import { readBack, type SubmitCopy } from './read-back.ts';
import { hostWords } from './tensor-storage.ts';

/** How a context handles its device and its buffers. */
export interface MemorySettings {
  readonly ownsDevice: boolean;
  readonly maxIdleBytes: number;
  readonly onLeak: ((message: string) => void) | undefined;
  readonly trace?: PassTrace | undefined;
}

/** A GPU device, with this library's tensors and buffers in its memory. */
export class GpuMemory implements TensorOwner {
  /** The caller's device, or the one that the context created. */
  readonly device: GPUDevice;
  /** The features and limits of the device. */
  readonly capabilities: Capabilities;
  /** Times the kernels of this context, if the context was created with a trace. */
  readonly trace: PassTrace | undefined;
  readonly #ownsDevice: boolean;
  readonly #pool: BufferPool;
  readonly #placeholders = new Map<string, GPUBuffer>();
  #leaks: LeakWatch | undefined;
  #ended: TilewiseError | undefined;

  constructor(device: GPUDevice, capabilities: Capabilities, settings: MemorySettings) {
    this.device = device;
    this.capabilities = capabilities;
    this.trace = settings.trace;
    settings.trace?.attach(device);
    this.#ownsDevice = settings.ownsDevice;
    this.#pool = new BufferPool(device, settings.maxIdleBytes);
    this.#leaks = settings.onLeak && new LeakWatch(settings.onLeak);
    device.lost.then(info => {
      this.#ended ??= deviceLost(info);
    });
  }

  /** Bytes of the GPU buffers that this context holds: now, and at the peak. */
  get memory(): MemoryUse {
    return this.#pool.use;
  }

  /** Restarts the measurement of `memory.peak`. */
  resetPeakMemory(): void {
    this.#pool.resetPeak();
  }

  /**
   * Resolves when all calls so far have been submitted to the GPU, or have failed. A call waits while its
   * kernels are compiled, and later calls wait for it. Await this before you submit work of your own, or
   * encode a plan, on the tensors of such calls.
   */
  submitted(): Promise<void> {
    return workQueue(this.device).settled();
  }

  /** Throws if the context was destroyed or its device is lost. */
  checkAlive(): void {
    if (this.#ended) throw this.#ended;
  }

  /**
   * Copies a host tensor to the GPU, with its strides.
   * @throws InvalidArgumentError if `tensor` is not a host tensor, or its buffer has been transferred.
   */
  upload(tensor: HostArray): GpuTensor {
    this.checkAlive();
    const { desc, words } = hostWords(tensor);
    const { result: buffer } = gpuWork(this.device, () => {
      const buffer = this.#pool.take(words.length);
      this.#write(buffer, words);
      return buffer;
    });
    return this.own(buffer, desc);
  }

  /**
   * Replaces the content of a tensor from `upload`, after all submitted work. Returns false, and writes
   * nothing, for a view, a wrapped buffer, or a host tensor with another dtype, shape or strides, and if work
   * waits for its kernels, or work of an open batch may use the tensor.
   */
  overwrite(target: GpuTensor, tensor: HostArray): boolean {
    this.checkAlive();
    this.checkOwn('target', target);
    const { desc, words } = hostWords(tensor);
    const isAlike =
      target.owned &&
      desc.dtype === target.dtype &&
      sameShape(desc.shape, target.shape) &&
      sameShape(desc.strides, target.strides);
    if (!isAlike || workQueue(this.device).mayUse(target.buffer)) return false;
    gpuWork(this.device, () => this.#write(target.buffer, words));
    return true;
  }

  #write(buffer: GPUBuffer, words: Uint8Array<ArrayBuffer>): void {
    const size = words.length;
    if (size > 0) this.device.queue.writeBuffer(buffer, 0, words);
    touch([], [{ buffer, offset: 0, size }]);
  }

  /**
   * Allocates a tensor with undefined content, contiguous unless strides are given.
   * @throws InvalidDTypeError or InvalidShapeError.
   */
  allocate(shape: Shape, dtype: DType, strides?: Strides): GpuTensor {
    this.checkAlive();
    const desc = copiedDesc(checkDesc({ dtype, shape, strides }));
    return this.own(this.#pool.take(bytesSpanned(desc)), desc);
  }

  /**
   * Makes a tensor of the caller's buffer, without a copy. The buffer needs the usage STORAGE (and COPY_SRC
   * for `download`). If work that writes to these bytes fails on the GPU, every `download` of them rejects
   * until they are written again.
   * @throws InvalidShapeError if the tensor does not fit into the buffer; InvalidArgumentError or
   * InvalidDTypeError for an invalid `desc`.
   */
  wrap(buffer: GPUBuffer, desc: WrapDesc): GpuTensor {
    this.checkAlive();
    const { desc: tensor, byteOffset } = wrappedPlacement(buffer, desc);
    return new GpuTensor(this, { buffer, byteOffset, owned: false }, tensor);
  }

  /**
   * A view: the memory of a tensor with another shape or other strides, without a copy.
   * @throws InvalidArgumentError for a tensor that was destroyed or belongs to another device;
   * InvalidShapeError if an element would lie outside the tensor's buffer.
   */
  view(tensor: GpuTensor, desc: ViewDesc): GpuTensor {
    this.checkOwn('tensor', tensor);
    const { desc: shown, byteOffset } = viewPlacement(tensor, desc);
    return new GpuTensor(this, { buffer: tensor.buffer, byteOffset, owned: false, viewed: tensor }, shown);
  }

  /**
   * Reads a tensor back to the host. Rejects with a TilewiseError if the GPU work that computed the tensor,
   * or the tensors it was computed from, failed; with `OUT_OF_MEMORY` also if there is no memory for the
   * copy.
   */
  download(tensor: GpuTensor): Promise<Tensor> {
    const { device } = this;
    return this.readBack(tensor, copy =>
      workQueue(device).run({
        buffers: () => [tensor.buffer],
        run: () => {
          this.checkAlive();
          return submitWork(device, copy);
        },
      }),
    );
  }

  /** Reads a tensor back with a copy that `submit` submits; rejects as `download` does. @internal */
  async readBack(tensor: GpuTensor, submit: SubmitCopy): Promise<Tensor> {
    this.checkAlive();
    this.checkOwn('tensor', tensor);
    return readBack(this.#pool, tensor, submit, () => this.checkAlive());
  }

  /**
   * Gives a tensor's memory back for reuse. Has no effect on wrapped buffers, on views, and on tensors that
   * have been given back before.
   * @throws InvalidArgumentError if `tensor` is not a tensor, or belongs to another context.
   */
  release(tensor: GpuTensor): void {
    if (tensor?.context !== this) {
      checkKind('tensor', tensor, 'a GpuTensor');
      const rule = 'belongs to another context: call its own destroy()';
      throw new InvalidArgumentError('tensor', rule);
    }
    const state = memoryState(tensor);
    if (!tensor.owned || state.isReleased) return;
    state.isReleased = true;
    this.#leaks?.forget(tensor);
    // Waiting work may still use the buffer.
    workQueue(this.device).afterwards(() => this.#pool.give(tensor.buffer));
  }

  /** Destroys the buffers that are kept for reuse. */
  trim(): void {
    this.#pool.trim();
  }

  /** Destroys all buffers of this context, and the device if the context created it. Later calls throw. */
  destroy(): void {
    this.#ended ??= new InvalidArgumentError('ctx', 'was destroyed and can no longer be used');
    this.#pool.destroy();
    this.#leaks = undefined;
    if (this.#ownsDevice) this.device.destroy();
  }

  /** Calls `destroy`; for `using`. */
  [Symbol.dispose](): void {
    this.destroy();
  }

  /**
   * The tensor, if it is on this device.
   * @throws InvalidArgumentError for a tensor that belongs to another device or was destroyed.
   * @internal
   */
  checkOwn(argument: string, tensor: TensorDesc): GpuTensor {
    if (!(tensor instanceof GpuTensor)) {
      throw new InvalidArgumentError(argument, 'must be a GpuTensor: make one with ctx.upload or ctx.wrap');
    }
    if (tensor.context.device !== this.device) {
      throw new InvalidArgumentError(argument, 'belongs to another device');
    }
    checkNotDestroyed(argument, memoryState(tensor));
    return tensor;
  }

  /** Makes a tensor that owns a buffer of `takeBuffer`: `release` gives the buffer back. @internal */
  own(buffer: GPUBuffer, desc: TensorDesc): GpuTensor {
    const tensor = new GpuTensor(this, { buffer, byteOffset: 0, owned: true }, desc);
    this.#leaks?.watch(tensor);
    return tensor;
  }

  /**
   * A storage buffer with undefined content. Give it back once the work that uses it is submitted.
   * @internal
   */
  takeBuffer(bytes: number): GPUBuffer {
    return this.#pool.take(bytes);
  }

  /** Gives a buffer of `takeBuffer` back for reuse. @internal */
  giveBuffer(buffer: GPUBuffer): void {
    this.#pool.give(buffer);
  }

  /**
   * A buffer to bind where a kernel expects a tensor that is empty; another one for each name, because a
   * kernel may not bind a buffer twice if it writes to it. It lives as long as the context: work that has not
   * been submitted may use it after its plan was destroyed.
   * @internal
   */
  placeholder(name: string): GPUBuffer {
    const buffer = this.#placeholders.get(name) ?? this.#pool.take(16);
    this.#placeholders.set(name, buffer);
    return buffer;
  }

  /**
   * A uniform buffer with the given content. It lives until it is discarded or the context is destroyed.
   * @internal
   */
  takeUniform(content: Uint8Array): GPUBuffer {
    return this.#pool.takeUniform(content);
  }

  /** Destroys a buffer of this context. @internal */
  discard(buffer: GPUBuffer): void {
    this.#pool.discard(buffer);
  }
}
