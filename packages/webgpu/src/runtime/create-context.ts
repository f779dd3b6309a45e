import { InvalidArgumentError, TilewiseError } from '@tilewise/core';
import { checkObject } from '@tilewise/philox/errors';
import type { ChooseTiles } from '../attention/tiles/tile-choice.ts';
import { capabilitiesOf, deviceDescriptor } from '../device/capabilities.ts';
import { checkKind } from '../device/check-kind.ts';
import { GpuContext } from './context.ts';

/** Where a context gets its device: the caller's own, one of the caller's adapter, or the browser's default. */
export interface ContextOptions {
  /** Used as it is, with the limits and features it has; `ctx.destroy()` leaves it alive. */
  readonly device?: GPUDevice | undefined;
  /** With a device: the one that the device is from, which may know more of it than the device says. */
  readonly adapter?: GPUAdapter | undefined;
  readonly powerPreference?: GPUPowerPreference | undefined;
  /** Bytes of buffers given back that are kept for reuse, at most. Default 256 MiB. */
  readonly maxIdleBytes?: number | undefined;
  /** Tiles of attention kernels for problems where better ones than the table's are known, such as `tune` finds. */
  readonly tiles?: ChooseTiles | undefined;
}

const defaultMaxIdleBytes = 256 * 1024 * 1024;

/**
 * A context on the caller's device or on one of its own.
 * @throws InvalidArgumentError for a wrong option, TilewiseError `NO_ADAPTER` when WebGPU is not there, gives no adapter, or the adapter gives no device.
 */
export async function createContext(options: ContextOptions = {}): Promise<GpuContext> {
  checkObject('options', options);
  const { maxIdleBytes = defaultMaxIdleBytes, tiles } = options;
  if (!(maxIdleBytes >= 0)) {
    throw new InvalidArgumentError('maxIdleBytes', `must be a number of bytes ≥ 0, got ${maxIdleBytes}`);
  }
  if (options.adapter) checkKind('adapter', options.adapter, 'a GPUAdapter');
  if (options.device) {
    checkKind('device', options.device, 'a GPUDevice');
    const capabilities = await capabilitiesOf(options.device, options.adapter);
    return new GpuContext(options.device, capabilities, false, maxIdleBytes, tiles);
  }
  const adapter = options.adapter ?? (await defaultAdapter(options.powerPreference));
  const device = await adapter.requestDevice(deviceDescriptor(adapter)).catch((cause: unknown) => {
    // An adapter makes one device only.
    throw new TilewiseError('NO_ADAPTER', `the adapter gave no device: ${String(cause)}`, { cause });
  });
  return new GpuContext(device, await capabilitiesOf(device, adapter), true, maxIdleBytes, tiles);
}

async function defaultAdapter(powerPreference: GPUPowerPreference = 'high-performance'): Promise<GPUAdapter> {
  const { gpu } = (globalThis as { navigator?: { gpu?: GPU } }).navigator ?? {};
  if (!gpu) {
    throw new TilewiseError(
      'NO_ADAPTER',
      'navigator.gpu is missing: use a browser with WebGPU on a secure page, or, in Node, pass a device or adapter from the npm package webgpu',
    );
  }
  const adapter = await gpu.requestAdapter({ powerPreference }).catch((cause: unknown) => {
    throw new TilewiseError('NO_ADAPTER', `WebGPU gave no adapter: ${String(cause)}`, { cause });
  });
  if (!adapter) {
    throw new TilewiseError(
      'NO_ADAPTER',
      'WebGPU found no adapter: no GPU that it supports, or no driver for it',
    );
  }
  return adapter;
}
