import {
  checkStorage,
  contiguousStrides,
  type DType,
  dtypeInfo,
  elementCount,
  type HostArray,
  InvalidArgumentError,
  InvalidShapeError,
  maxOffset,
  type Shape,
  type Strides,
  Tensor,
  type TensorDesc,
  TilewiseError,
} from '@tilewise/core';
import type { ChooseTiles } from '../attention/tile-choice.ts';
import { type EagerCall, runCall } from '../kernel/eager-call.ts';
import { type KernelParts, type KernelPlan, makeKernelPlan, type PlanParts } from '../kernel/kernel-plan.ts';
import type { KernelSpec } from '../kernel/kernel-spec.ts';
import { type KernelTarget, kernelTarget, type TensorSizes } from '../kernel/kernel-target.ts';
import { planReasons } from '../kernel/plan-reasons.ts';
import { type Capabilities, capabilitiesOf, deviceDescriptor } from './capabilities.ts';
import { bufferUsage, mapModeRead } from './constants.ts';
import { deviceLost, withFaults } from './faults.ts';
import { GpuTensor } from './gpu-tensor.ts';
import { BufferPool, type MemoryUse } from './memory.ts';

/** Where a context gets its device: the caller's own, one of the caller's adapter, or the browser's default. */
export interface ContextOptions {
  /** Used as it is, with the limits and features it has; `ctx.destroy()` leaves it alive. */
  readonly device?: GPUDevice;
  readonly adapter?: GPUAdapter;
  readonly powerPreference?: GPUPowerPreference;
  /** Bytes of buffers given back that are kept for reuse, at most. Default 256 MiB. */
  readonly maxIdleBytes?: number;
  /** Tiles of attention kernels for problems where better ones than the table's are known, such as `tune` finds. */
  readonly tiles?: ChooseTiles;
}

const defaultMaxIdleBytes = 256 * 1024 * 1024;

/** A buffer as a tensor: row-major without gaps unless strides (in elements) are given; `offset` in bytes. */
export interface WrapDesc {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly strides?: Strides;
  readonly offset?: number;
}

/**
 * A context on the caller's device or on one of its own.
 * @throws TilewiseError `NO_ADAPTER` when WebGPU is not there, has no adapter, or the adapter gives no device.
 */
export async function createContext(options: ContextOptions = {}): Promise<GpuContext> {
  const { maxIdleBytes = defaultMaxIdleBytes, tiles } = options;
  if (!(maxIdleBytes >= 0)) {
    throw new InvalidArgumentError('maxIdleBytes', `must be a number of bytes ≥ 0, got ${maxIdleBytes}`);
  }
  if (options.device) return new GpuContext(options.device, false, maxIdleBytes, tiles);
  const adapter = options.adapter ?? (await defaultAdapter(options.powerPreference));
  const device = await adapter.requestDevice(deviceDescriptor(adapter)).catch((cause: unknown) => {
    // An adapter makes one device only.
    throw new TilewiseError('NO_ADAPTER', `the adapter gave no device: ${String(cause)}`, { cause });
  });
  return new GpuContext(device, true, maxIdleBytes, tiles);
}

async function defaultAdapter(powerPreference: GPUPowerPreference = 'high-performance'): Promise<GPUAdapter> {
  const { gpu } = (globalThis as { navigator?: { gpu?: GPU } }).navigator ?? {};
  if (!gpu) {
    throw new TilewiseError(
      'NO_ADAPTER',
      'navigator.gpu is missing: use a browser with WebGPU on a secure page, or, in Node, pass a device or adapter from the npm package webgpu',
    );
  }
  const adapter = await gpu.requestAdapter({ powerPreference });
  if (!adapter) {
    throw new TilewiseError(
      'NO_ADAPTER',
      'WebGPU found no adapter: no GPU that it supports, or no driver for it',
    );
  }
  return adapter;
}

/** A GPU device with the buffers and compiled kernels of this library on it. Made by `createContext`. */
export class GpuContext implements KernelTarget {
  readonly device: GPUDevice;
  readonly capabilities: Capabilities;
  readonly tiles: ChooseTiles | undefined;
  readonly #ownsDevice: boolean;
  readonly #pool: BufferPool;
  readonly #released = new WeakSet<GpuTensor>();
  /** The tensor that a view looks at. */
  readonly #viewed = new WeakMap<GpuTensor, GpuTensor>();
  #ended: TilewiseError | undefined;

  constructor(device: GPUDevice, ownsDevice: boolean, maxIdleBytes: number, tiles: ChooseTiles | undefined) {
    this.device = device;
    this.tiles = tiles;
    this.capabilities = capabilitiesOf(device);
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
   * Kernels as a plan on this device. What makes plans is the context's, so that the functions that describe kernels do not hold it.
   * @throws UnsupportedError when even one workgroup touches more of a tensor than the device binds.
   */
  plan<Options>(parts: PlanParts<Options>): KernelPlan<Options> {
    return makeKernelPlan(this, parts);
  }

  /** What this device lacks for such a plan; nothing when it can run. */
  planReasons(parts: KernelParts): string[] {
    return planReasons(parts, this.capabilities);
  }

  /** A binding of which even one workgroup of the kernel needs more than this device binds, if there is one. */
  tooLargeFor(kernel: KernelSpec, tensors: TensorSizes): string | undefined {
    return kernelTarget(this.capabilities).tooLargeFor(kernel, tensors);
  }

  /**
   * Runs a plan at once: allocates the results, uploads operands on the host, records and submits.
   * @throws InvalidArgumentError or UnsupportedError for an operand that is no tensor of this context in the layout that it needs.
   */
  run<Options>(call: EagerCall<Options>): Record<string, GpuTensor> {
    return runCall(this, call);
  }

  /**
   * Copies a host tensor to the GPU, with its strides.
   * @throws InvalidArgumentError when its buffer has been transferred.
   */
  upload(tensor: HostArray): GpuTensor {
    this.checkAlive();
    checkStorage({ tensor });
    const { dtype, shape, strides, data, offset } = tensor;
    const extent = storageExtent(shape, strides);
    const { bytes } = dtypeInfo[dtype];
    return this.#guarded({ dtype, shape, strides }, () => {
      const buffer = this.#pool.take(extent * bytes);
      if (extent > 0)
        this.device.queue.writeBuffer(buffer, 0, wholeWords(data, offset * bytes, extent * bytes));
      return buffer;
    });
  }

  /** A new tensor with whatever content, contiguous unless strides are given. */
  allocate(shape: Shape, dtype: DType, strides: Strides = contiguousStrides(shape)): GpuTensor {
    this.checkAlive();
    checkStrides(shape, strides);
    const bytes = storageExtent(shape, strides) * dtypeInfo[dtype].bytes;
    const desc = { dtype, shape: [...shape], strides: [...strides] };
    return this.#guarded(desc, () => this.#pool.take(bytes));
  }

  /**
   * The caller's buffer as a tensor, without a copy. It needs the usage STORAGE (and COPY_SRC to be downloaded).
   * @throws InvalidShapeError when the tensor does not fit into the buffer.
   */
  wrap(
    buffer: GPUBuffer,
    { dtype, shape, strides = contiguousStrides(shape), offset = 0 }: WrapDesc,
  ): GpuTensor {
    this.checkAlive();
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
   * Another shape or other strides on the same elements, `offset` elements further on.
   * @throws InvalidShapeError when an element would lie outside the tensor's buffer.
   */
  view(
    tensor: GpuTensor,
    {
      shape,
      strides,
      offset = 0,
    }: { readonly shape: Shape; readonly strides: Strides; readonly offset?: number },
  ): GpuTensor {
    const { buffer, dtype, fault } = tensor;
    const byteOffset = tensor.byteOffset + offset * dtypeInfo[dtype].bytes;
    if (!Number.isSafeInteger(offset) || byteOffset < 0) {
      throw new InvalidArgumentError('offset', `must be a whole number within the buffer, got ${offset}`);
    }
    checkFits('shape', buffer, byteOffset, { dtype, shape, strides });
    const view = new GpuTensor(this, { buffer, byteOffset, owned: false }, { dtype, shape, strides }, fault);
    this.#viewed.set(view, tensor.context.#viewed.get(tensor) ?? tensor);
    return view;
  }

  /**
   * Reads a tensor back. Rejects with what went wrong on the GPU while it was computed.
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
    const { result: staging, fault } = withFaults(this.device, () => {
      const target = this.#pool.takeStaging(size);
      const encoder = this.device.createCommandEncoder({ label: 'tilewise download' });
      if (size > 0) encoder.copyBufferToBuffer(buffer, start, target, 0, size);
      this.device.queue.submit([encoder.finish()]);
      return target;
    });
    try {
      const [mapped, ...faults] = await Promise.all([
        staging.mapAsync(mapModeRead).then(
          () => true,
          () => false,
        ),
        tensor.fault,
        fault,
      ]);
      const wrong = faults.find(f => f !== undefined);
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

  /** Gives a tensor's memory back for reuse. No effect on wrapped buffers and views. */
  release(tensor: GpuTensor): void {
    // The context that made it has its memory.
    const { context } = tensor;
    if (!tensor.owned || context.#released.has(tensor)) return;
    context.#released.add(tensor);
    context.#pool.give(tensor.buffer);
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
    const owner = tensor.context.#viewed.get(tensor) ?? tensor;
    if (owner.context.#released.has(owner)) {
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

  #guarded(desc: TensorDesc, make: () => GPUBuffer): GpuTensor {
    const { result, fault } = withFaults(this.device, make);
    return new GpuTensor(this, { buffer: result, byteOffset: 0, owned: true }, desc, fault);
  }
}

/** Elements from the first to the last, gaps included. */
function storageExtent(shape: Shape, strides: Strides): number {
  return elementCount(shape) === 0 ? 0 : maxOffset(shape, strides) + 1;
}

/** Strides that are some, and no element outside the buffer. */
function checkFits(
  argument: string,
  buffer: GPUBuffer,
  offset: number,
  { dtype, shape, strides }: TensorDesc,
): void {
  checkStrides(shape, strides);
  const needed = offset + storageExtent(shape, strides) * dtypeInfo[dtype].bytes;
  if (needed > buffer.size) {
    throw new InvalidShapeError(
      argument,
      `needs ${needed} bytes (${dtype} [${shape}] with strides [${strides}] from byte ${offset}), the buffer has ${buffer.size}`,
    );
  }
}

function checkStrides(shape: Shape, strides: Strides): void {
  const valid = (n: number): boolean => Number.isSafeInteger(n) && n >= 0;
  if (!shape.every(valid))
    throw new InvalidShapeError('shape', `must hold non-negative integers, got [${shape}]`);
  if (strides.length !== shape.length || !strides.every(valid)) {
    throw new InvalidShapeError('strides', `must be ${shape.length} non-negative integers, got [${strides}]`);
  }
}

/** Bytes `start` to `start + length` of a typed array; writes to buffers come in whole words, so they end with zeros if need be. */
function wholeWords(data: ArrayBufferView, start: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.buffer, data.byteOffset + start, length);
  // A shared buffer cannot be handed to the queue in every host.
  if (length % 4 === 0 && bytes.buffer instanceof ArrayBuffer) return bytes as Uint8Array<ArrayBuffer>;
  const padded = new Uint8Array(Math.ceil(length / 4) * 4);
  padded.set(bytes);
  return padded;
}
