/// <reference lib="esnext.disposable" preserve="true" />
import {
  checkDesc,
  checkStorage,
  type DType,
  dtypeInfo,
  elementsSpanned,
  type HostArray,
  InvalidArgumentError,
  InvalidShapeError,
  type Shape,
  type Strides,
  Tensor,
  type TensorDesc,
  TilewiseError,
} from '@tilewise/core';
import { checkOptions, describeValue } from '@tilewise/philox/errors';
import { BufferPool, type MemoryUse } from '../device/buffer-pool.ts';
import type { Capabilities } from '../device/capabilities.ts';
import { checkKind } from '../device/check-kind.ts';
import type { PassTrace } from '../device/compute-pass.ts';
import { deviceLost } from '../device/faults.ts';
import { type Fault, gpuWork, submitWork, touch } from '../device/gpu-work.ts';
import { bufferUsage, mapModeRead } from '../device/webgpu-flags.ts';
import { workQueue } from '../device/work-queue.ts';
import { GpuTensor, type TensorOwner } from './gpu-tensor.ts';
import { LeakWatch } from './leak-watch.ts';
import { bytesOf, checkFits, wholeWords } from './tensor-storage.ts';

/** A buffer as a tensor: row-major without gaps unless strides (in elements) are given; `offset` in bytes. */
export interface WrapDesc {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly strides?: Strides | undefined;
  readonly offset?: number | undefined;
}

/** A shape and strides (row-major without gaps unless given) from `offset` elements on. */
export interface ViewDesc {
  readonly shape: Shape;
  readonly strides?: Strides | undefined;
  readonly offset?: number | undefined;
}

/** How a context treats its device and its buffers. */
export interface MemorySettings {
  readonly ownsDevice: boolean;
  readonly maxIdleBytes: number;
  readonly onLeak: ((message: string) => void) | undefined;
  readonly trace?: PassTrace | undefined;
}

/** A copy that is being mapped for the host: the promise gives the buffer where mapping fails. */
type MappedCopy = readonly [staging: GPUBuffer, mapping: Promise<unknown>];

/** Records a copy in an encoder. @returns what maps the copy, once the encoder is submitted. */
export type RecordedCopy = (encoder: GPUCommandEncoder) => () => MappedCopy;

/** A copy that was submitted, and the error of the work that it was submitted with. */
export interface SubmittedCopy {
  readonly result: MappedCopy;
  readonly fault: Fault;
}

/** Tensors that were given back. */
const released = new WeakSet<GpuTensor>();

/** The tensor whose memory a view shows. */
const viewed = new WeakMap<GpuTensor, GpuTensor>();

/** A GPU device with the tensors and buffers of this library in its memory. */
export class GpuMemory implements TensorOwner {
  readonly device: GPUDevice;
  readonly capabilities: Capabilities;
  /** Times the kernels of this context, if it was made with a trace. */
  readonly trace: PassTrace | undefined;
  readonly #ownsDevice: boolean;
  readonly #pool: BufferPool;
  readonly #leaks: LeakWatch | undefined;
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

  /** Bytes of GPU buffers that this context holds now and held at most. */
  get memory(): MemoryUse {
    return this.#pool.use;
  }

  /** Starts the measurement of `memory.peak` again. */
  resetPeakMemory(): void {
    this.#pool.resetPeak();
  }

  /**
   * Resolves when the GPU has been given all calls so far, or they have failed. A call waits while its
   * kernels are compiled, and later calls wait behind it. Await this before you submit work of your own, or
   * encode a plan, on tensors of such calls.
   */
  submitted(): Promise<void> {
    return workQueue(this.device).settled();
  }

  /** Throws if the context was destroyed or its device lost. */
  checkAlive(): void {
    if (this.#ended) throw this.#ended;
  }

  /**
   * Copies a host tensor to the GPU, with its strides.
   * @throws InvalidArgumentError when `tensor` is no host tensor, or its buffer has been transferred.
   */
  upload(tensor: HostArray): GpuTensor {
    this.checkAlive();
    checkKind('tensor', tensor, 'a Tensor on the host');
    const { data, offset } = tensor;
    const desc = checkDesc(tensor);
    const elements = elementsSpanned(desc.shape, desc.strides);
    if (!ArrayBuffer.isView(data))
      throw new InvalidArgumentError('tensor', 'must have its elements in a typed array');
    checkStorage({ tensor: { ...desc, data, offset } });
    const { bytes } = dtypeInfo[desc.dtype];
    const size = elements * bytes;
    if (offset * bytes + size > data.byteLength) {
      const rule = `needs ${offset * bytes + size} bytes, its typed array has ${data.byteLength}`;
      throw new InvalidShapeError('tensor', rule);
    }
    const { result: buffer } = gpuWork(this.device, () => {
      const buffer = this.#pool.take(size);
      if (size > 0) this.device.queue.writeBuffer(buffer, 0, wholeWords(data, offset * bytes, size));
      touch([], [{ buffer, offset: 0, size }]);
      return buffer;
    });
    return this.own(buffer, desc);
  }

  /**
   * A new tensor with undefined content, contiguous unless strides are given.
   * @throws InvalidDTypeError or InvalidShapeError.
   */
  allocate(shape: Shape, dtype: DType, strides?: Strides): GpuTensor {
    this.checkAlive();
    const desc = copied(checkDesc({ dtype, shape, strides }));
    const bytes = elementsSpanned(desc.shape, desc.strides) * dtypeInfo[dtype].bytes;
    return this.own(this.#pool.take(bytes), desc);
  }

  /**
   * The caller's buffer as a tensor, without a copy. The buffer needs the usage STORAGE (and COPY_SRC for
   * `download`). When work that writes to these bytes goes wrong on the GPU, every `download` of them rejects
   * until they are written again.
   * @throws InvalidShapeError when the tensor does not fit into the buffer; InvalidArgumentError or
   * InvalidDTypeError.
   */
  wrap(buffer: GPUBuffer, desc: WrapDesc): GpuTensor {
    this.checkAlive();
    checkKind('buffer', buffer, 'a GPUBuffer');
    checkOptions('desc', desc, ['dtype', 'shape', 'strides', 'offset']);
    const { offset = 0 } = desc;
    const tensor = copied(checkDesc(desc));
    const { dtype } = tensor;
    const { bytes } = dtypeInfo[dtype];
    if (!Number.isInteger(offset) || offset < 0 || offset % bytes !== 0) {
      const rule = `must be a multiple of ${bytes} bytes for ${dtype}, got ${describeValue(offset)}`;
      throw new InvalidArgumentError('offset', rule);
    }
    if (buffer.size % 4 !== 0) {
      const rule = `must have a size that is a multiple of 4 bytes, got ${buffer.size}`;
      throw new InvalidArgumentError('buffer', rule);
    }
    if (!(buffer.usage & bufferUsage.STORAGE)) {
      throw new InvalidArgumentError('buffer', `must have the usage STORAGE, got usage ${buffer.usage}`);
    }
    checkFits('buffer', buffer, offset, tensor);
    return new GpuTensor(this, { buffer, byteOffset: offset, owned: false }, tensor);
  }

  /**
   * Another shape or other strides on the memory of a tensor, without a copy.
   * @throws InvalidArgumentError for a tensor that was destroyed or is of another device; InvalidShapeError
   * when an element would lie outside the tensor's buffer.
   */
  view(tensor: GpuTensor, desc: ViewDesc): GpuTensor {
    this.checkOwn('tensor', tensor);
    checkOptions('desc', desc, ['shape', 'strides', 'offset']);
    const { offset = 0 } = desc;
    const { buffer, dtype } = tensor;
    const shown = checkDesc({ dtype, shape: desc.shape, strides: desc.strides });
    const byteOffset = Number.isSafeInteger(offset)
      ? tensor.byteOffset + offset * dtypeInfo[dtype].bytes
      : -1;
    if (byteOffset < 0) {
      const rule = `must be a whole number within the buffer, got ${describeValue(offset)}`;
      throw new InvalidArgumentError('offset', rule);
    }
    checkFits('shape', buffer, byteOffset, shown);
    const view = new GpuTensor(this, { buffer, byteOffset, owned: false }, shown);
    viewed.set(view, viewed.get(tensor) ?? tensor);
    return view;
  }

  /**
   * Reads a tensor back to the host. Rejects with a TilewiseError when something went wrong on the GPU while
   * the tensor, or what it was computed from, was computed; `OUT_OF_MEMORY` also when there is no memory for
   * the copy.
   */
  download(tensor: GpuTensor): Promise<Tensor> {
    return this.readBack(tensor, copy => {
      const { device } = this;
      const run = (): SubmittedCopy => {
        this.checkAlive();
        return submitWork(device, copy);
      };
      const queue = workQueue(device);
      return queue.isIdle ? run() : queue.add({ buffers: [tensor.buffer], run });
    });
  }

  /**
   * Reads a tensor back by a copy that `submit` submits; rejects as `download` does.
   * @param submit records the copy in an encoder, submits it, and then maps the copy, all in one `gpuWork`.
   */
  async readBack(
    tensor: GpuTensor,
    submit: (copy: RecordedCopy) => SubmittedCopy | Promise<SubmittedCopy>,
  ): Promise<Tensor> {
    this.checkAlive();
    this.checkOwn('tensor', tensor);
    const { dtype, shape, strides, byteOffset, buffer } = tensor;
    const { bytes, allocate } = dtypeInfo[dtype];
    const elements = elementsSpanned(shape, strides);
    const data = allocate(elements);
    // Copies move whole words: start and end are rounded outwards.
    const start = Math.floor(byteOffset / 4) * 4;
    const size = Math.min(Math.ceil((byteOffset + elements * bytes) / 4) * 4, buffer.size) - start;
    const { result, fault } = await submit(encoder => {
      const staging = this.#pool.takeStaging(size);
      if (size > 0) encoder.copyBufferToBuffer(buffer, start, staging, 0, size);
      touch([bytesOf(tensor)], []);
      // Mapped with this work, so that the error of a buffer without memory stays with the work.
      return () => [staging, staging.mapAsync(mapModeRead).catch(() => staging)];
    });
    const [staging, mapping] = result;
    try {
      const [failed, wrong] = await Promise.all([mapping, fault]);
      if (wrong) throw wrong;
      this.checkAlive();
      if (failed) {
        throw new TilewiseError('DEVICE_LOST', 'the tensor could not be read back: its device is gone');
      }
      const source = new Uint8Array(staging.getMappedRange(), byteOffset - start, elements * bytes);
      new Uint8Array(data.buffer).set(source);
      staging.unmap();
      this.#pool.give(staging);
    } catch (error) {
      this.#pool.discard(staging);
      throw error;
    }
    return Tensor.wrap(data, { dtype, shape, strides });
  }

  /**
   * Gives a tensor's memory back for reuse. No effect on wrapped buffers and views, and on tensors that were
   * given back before.
   * @throws InvalidArgumentError for what is no tensor, and for a tensor of another context.
   */
  release(tensor: GpuTensor): void {
    checkKind('tensor', tensor, 'a GpuTensor');
    if (tensor.context !== this) {
      const rule = 'belongs to another context: call its own destroy(), or release of that context';
      throw new InvalidArgumentError('tensor', rule);
    }
    if (!tensor.owned || released.has(tensor)) return;
    released.add(tensor);
    this.#leaks?.forget(tensor);
    const queue = workQueue(this.device);
    // Work that waits may still use the buffer.
    if (queue.isIdle) this.#pool.give(tensor.buffer);
    else queue.add({ run: () => this.#pool.give(tensor.buffer) });
  }

  /** Destroys the buffers that are kept for reuse. */
  trim(): void {
    this.#pool.trim();
  }

  /**
   * Destroys every buffer of this context, and its device if the context made the device. Later calls throw.
   */
  destroy(): void {
    this.#ended ??= new InvalidArgumentError('ctx', 'was destroyed and can no longer be used');
    this.#pool.destroy();
    if (this.#ownsDevice) this.device.destroy();
  }

  /** `destroy`, for `using`. */
  [Symbol.dispose](): void {
    this.destroy();
  }

  /** @throws InvalidArgumentError for a tensor of another device or one that was destroyed. */
  checkOwn(argument: string, tensor: TensorDesc): GpuTensor {
    if (!(tensor instanceof GpuTensor)) {
      throw new InvalidArgumentError(argument, 'must be a GpuTensor: make one with ctx.upload or ctx.wrap');
    }
    if (tensor.context.device !== this.device) {
      throw new InvalidArgumentError(argument, 'belongs to another device');
    }
    if (released.has(viewed.get(tensor) ?? tensor)) {
      throw new InvalidArgumentError(argument, 'was destroyed');
    }
    return tensor;
  }

  /** A tensor that owns a buffer of `takeBuffer`: `release` gives the buffer back. */
  own(buffer: GPUBuffer, desc: TensorDesc): GpuTensor {
    const tensor = new GpuTensor(this, { buffer, byteOffset: 0, owned: true }, desc);
    this.#leaks?.watch(tensor);
    return tensor;
  }

  /** A storage buffer with undefined content; give it back once the work that uses it is submitted. */
  takeBuffer(bytes: number): GPUBuffer {
    return this.#pool.take(bytes);
  }

  giveBuffer(buffer: GPUBuffer): void {
    this.#pool.give(buffer);
  }

  /** A uniform buffer with its content, until it is discarded or the context destroyed. */
  takeUniform(content: Uint8Array): GPUBuffer {
    return this.#pool.takeUniform(content);
  }

  discard(buffer: GPUBuffer): void {
    this.#pool.discard(buffer);
  }
}

/** A description that does not change with the caller's arrays. */
const copied = ({ dtype, shape, strides }: TensorDesc): TensorDesc => ({
  dtype,
  shape: [...shape],
  strides: [...strides],
});
