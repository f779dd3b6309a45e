import {
  checkStorage,
  type DType,
  dtypeInfo,
  type HostArray,
  InvalidArgumentError,
  type Shape,
  type Strides,
  Tensor,
  type TensorDesc,
  TilewiseError,
} from '@tilewise/core';
import { checkObject } from '@tilewise/philox/errors';
import { BufferPool, type MemoryUse } from '../device/buffer-pool.ts';
import type { Capabilities } from '../device/capabilities.ts';
import { checkDType, checkKind } from '../device/check-kind.ts';
import { deviceLost } from '../device/faults.ts';
import { gpuWork, touch } from '../device/gpu-work.ts';
import { bufferUsage, mapModeRead } from '../device/webgpu-flags.ts';
import { GpuTensor, type TensorOwner } from './gpu-tensor.ts';
import { bytesOf, checkedStrides, checkFits, storageExtent, wholeWords } from './tensor-storage.ts';

/** A buffer as a tensor: row-major without gaps unless strides (in elements) are given; `offset` in bytes. */
export interface WrapDesc {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly strides?: Strides | undefined;
  readonly offset?: number | undefined;
}

/** Tensors that were given back. */
const released = new WeakSet<GpuTensor>();

/** The tensor whose memory a view shows. */
const viewed = new WeakMap<GpuTensor, GpuTensor>();

/** A GPU device with the tensors and buffers of this library in its memory. */
export class GpuMemory implements TensorOwner {
  readonly device: GPUDevice;
  readonly capabilities: Capabilities;
  readonly #ownsDevice: boolean;
  readonly #pool: BufferPool;
  #ended: TilewiseError | undefined;

  constructor(device: GPUDevice, capabilities: Capabilities, ownsDevice: boolean, maxIdleBytes: number) {
    this.device = device;
    this.capabilities = capabilities;
    this.#ownsDevice = ownsDevice;
    this.#pool = new BufferPool(device, maxIdleBytes);
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

  /** Throws if the context was destroyed or its device lost. */
  checkAlive(): void {
    if (this.#ended) throw this.#ended;
  }

  /**
   * Copies a host tensor to the GPU, with its strides.
   * @throws InvalidArgumentError when it is none, or its buffer has been transferred.
   */
  upload(tensor: HostArray): GpuTensor {
    this.checkAlive();
    checkKind('tensor', tensor, 'a Tensor on the host');
    const { dtype, shape, strides, data, offset } = tensor;
    checkDType(dtype);
    checkedStrides(shape, strides);
    checkStorage({ tensor });
    const extent = storageExtent(shape, strides);
    const { bytes } = dtypeInfo[dtype];
    const size = extent * bytes;
    const { result: buffer } = gpuWork(this.device, () => {
      const buffer = this.#pool.take(size);
      if (extent > 0) this.device.queue.writeBuffer(buffer, 0, wholeWords(data, offset * bytes, size));
      touch([], [{ buffer, offset: 0, size }]);
      return buffer;
    });
    return new GpuTensor(this, { buffer, byteOffset: 0, owned: true }, { dtype, shape, strides });
  }

  /**
   * A new tensor with whatever content, contiguous unless strides are given.
   * @throws InvalidDTypeError or InvalidShapeError.
   */
  allocate(shape: Shape, dtype: DType, given?: Strides): GpuTensor {
    this.checkAlive();
    checkDType(dtype);
    const strides = checkedStrides(shape, given);
    const bytes = storageExtent(shape, strides) * dtypeInfo[dtype].bytes;
    const place = { buffer: this.#pool.take(bytes), byteOffset: 0, owned: true };
    return new GpuTensor(this, place, { dtype, shape: [...shape], strides: [...strides] });
  }

  /**
   * The caller's buffer as a tensor, without a copy. It needs the usage STORAGE (and COPY_SRC to be downloaded). What went wrong
   * with results that were to be written to its bytes stays with them until results are written to them again.
   * @throws InvalidShapeError when the tensor does not fit into the buffer; InvalidArgumentError or InvalidDTypeError.
   */
  wrap(buffer: GPUBuffer, desc: WrapDesc): GpuTensor {
    this.checkAlive();
    checkKind('buffer', buffer, 'a GPUBuffer');
    checkObject('desc', desc);
    const { dtype, shape, offset = 0 } = desc;
    checkDType(dtype);
    const strides = checkedStrides(shape, desc.strides);
    const { bytes } = dtypeInfo[dtype];
    if (!Number.isInteger(offset) || offset < 0 || offset % bytes !== 0) {
      throw new InvalidArgumentError(
        'offset',
        `must be a multiple of ${bytes} bytes for ${dtype}, got ${offset}`,
      );
    }
    if (buffer.size % 4 !== 0) {
      throw new InvalidArgumentError(
        'buffer',
        `must have a size that is a multiple of 4 bytes, got ${buffer.size}`,
      );
    }
    if (!(buffer.usage & bufferUsage.STORAGE)) {
      throw new InvalidArgumentError('buffer', `must have the usage STORAGE, got usage ${buffer.usage}`);
    }
    checkFits('buffer', buffer, offset, { dtype, shape, strides });
    return new GpuTensor(
      this,
      { buffer, byteOffset: offset, owned: false },
      { dtype, shape: [...shape], strides: [...strides] },
    );
  }

  /**
   * Another shape or other strides (row-major without gaps unless given) on the same elements, `offset` elements further on.
   * @throws InvalidShapeError when an element would lie outside the tensor's buffer.
   */
  view(
    tensor: GpuTensor,
    desc: {
      readonly shape: Shape;
      readonly strides?: Strides | undefined;
      readonly offset?: number | undefined;
    },
  ): GpuTensor {
    checkKind('tensor', tensor, 'a GpuTensor');
    checkObject('desc', desc);
    const { shape, offset = 0 } = desc;
    const strides = checkedStrides(shape, desc.strides);
    const { buffer, dtype } = tensor;
    const byteOffset = tensor.byteOffset + offset * dtypeInfo[dtype].bytes;
    if (!Number.isSafeInteger(offset) || byteOffset < 0) {
      throw new InvalidArgumentError('offset', `must be a whole number within the buffer, got ${offset}`);
    }
    checkFits('shape', buffer, byteOffset, { dtype, shape, strides });
    const view = new GpuTensor(this, { buffer, byteOffset, owned: false }, { dtype, shape, strides });
    viewed.set(view, viewed.get(tensor) ?? tensor);
    return view;
  }

  /**
   * Reads a tensor back. Rejects with what went wrong on the GPU while it was computed, or what it was computed from.
   */
  async download(tensor: GpuTensor): Promise<Tensor> {
    this.checkAlive();
    this.checkOwn('tensor', tensor);
    const { dtype, shape, strides, byteOffset, buffer } = tensor;
    const { bytes, allocate } = dtypeInfo[dtype];
    const extent = storageExtent(shape, strides);
    const data = allocate(extent);
    // Copies move whole words: start and end are rounded outwards.
    const start = Math.floor(byteOffset / 4) * 4;
    const size = Math.min(Math.ceil((byteOffset + extent * bytes) / 4) * 4, buffer.size) - start;
    const { result: staging, fault } = gpuWork(this.device, () => {
      const target = this.#pool.takeStaging(size);
      const encoder = this.device.createCommandEncoder({ label: 'tilewise download' });
      if (size > 0) encoder.copyBufferToBuffer(buffer, start, target, 0, size);
      this.device.queue.submit([encoder.finish()]);
      touch([bytesOf(tensor)], []);
      return target;
    });
    try {
      const [mapped, wrong] = await Promise.all([
        staging.mapAsync(mapModeRead).then(
          () => true,
          () => false,
        ),
        fault,
      ]);
      if (wrong) throw wrong;
      this.checkAlive();
      if (!mapped)
        throw new TilewiseError('DEVICE_LOST', 'the tensor could not be read back: its device is gone');
      const source = new Uint8Array(staging.getMappedRange(), byteOffset - start, extent * bytes);
      new Uint8Array(data.buffer).set(source);
    } finally {
      this.#pool.discard(staging);
    }
    return Tensor.wrap(data, { dtype, shape, strides });
  }

  /**
   * Gives a tensor's memory back for reuse. No effect on wrapped buffers and views.
   * @throws InvalidArgumentError for what is no tensor of a context.
   */
  release(tensor: GpuTensor): void {
    checkKind('tensor', tensor, 'a GpuTensor');
    if (!tensor.owned || released.has(tensor)) return;
    released.add(tensor);
    // The memory belongs to the context that allocated the tensor.
    tensor.context.giveBuffer(tensor.buffer);
  }

  /** Destroys the buffers that are kept for reuse. */
  trim(): void {
    this.#pool.trim();
  }

  /** Destroys every buffer of this context, and its device if it made it. Later calls throw. */
  destroy(): void {
    if (this.#ended === undefined) {
      this.#ended = new InvalidArgumentError('ctx', 'was destroyed and can no longer be used');
    }
    this.#pool.destroy();
    if (this.#ownsDevice) this.device.destroy();
  }

  /** @throws InvalidArgumentError for a tensor of another context or one whose buffer was given back. */
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

  /** A storage buffer with whatever content; give it back once the work that uses it is submitted. */
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
