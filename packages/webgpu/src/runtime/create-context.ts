import { InvalidArgumentError, listText, TilewiseError } from '@tilewise/core';
import { checkFunction, checkOneOf, checkOptions, describeValue } from '@tilewise/philox/errors';
import {
  type LoadedModuleName,
  loadedModuleNames,
  loadModules,
  throwLoadError,
} from '../attention/modules/load-modules.ts';
import type { TileSelector } from '../attention/tiles/tile-choice.ts';
import { capabilitiesOf, deviceDescriptor } from '../device/capabilities/capabilities.ts';
import { checkKind } from '../device/check-kind.ts';
import type { GpuTrace } from '../trace/gpu-trace.ts';
import { GpuContext } from './context.ts';
import { loadTileKinds } from './tile-kinds/load-tile-kinds.ts';

/**
 * The device of a context (the caller's own, one of the caller's adapter, or the browser's default), and
 * settings.
 */
export interface ContextOptions {
  /** A device to use as it is, with its own limits and features; `ctx.destroy()` does not destroy it. */
  readonly device?: GPUDevice | undefined;
  /**
   * The adapter from which to request a device. If `device` is given too: the adapter of that device, which
   * may report more than the device does.
   */
  readonly adapter?: GPUAdapter | undefined;
  /**
   * The GPU to request on a machine with several, if neither `device` nor `adapter` is given. Default:
   * 'high-performance'.
   */
  readonly powerPreference?: GPUPowerPreference | undefined;
  /** The largest number of bytes in free buffers that are kept for reuse. Default 256 MiB. */
  readonly maxIdleBytes?: number | undefined;
  /**
   * Tiles of attention kernels for problems on which other tiles are faster than those of the built-in table,
   * for example tiles that `tune` has found.
   */
  readonly tiles?: TileSelector | undefined;
  /**
   * Code for options that many programs do not use, in modules that are loaded while the device is created:
   *
   * - `'dropout'`: dropout masks;
   * - `'mods'`: score and mask mods;
   * - `'gradients'`: dbias, dAlibi, dsink, and the gradients of the tensors that a score mod loads;
   * - `'splitKv'`: several workgroups share the keys of few queries; decode is slower without this module;
   * - `'sequences'`: lengths, packed, ragged and paged tensors;
   * - `'largeTensors'`: tensors of which a workgroup reads more than the device binds at once, such as
   *   embeddings;
   * - `'hints'`: errors suggest the right name for a misspelt option, or buffer of a plan.
   *
   * Default: all. An eager call that needs a module which was left out is unsupported, also on an engine of
   * the context. Plans include all of this code but the hints.
   */
  readonly load?: readonly LoadedModuleName[] | undefined;
  /**
   * For development: called with a message when a tensor that was not destroyed is garbage-collected. Its GPU
   * memory is not freed. Pass `console.warn`, for example.
   */
  readonly onLeak?: ((message: string) => void) | undefined;
  /** A trace made by `createTrace` of `@tilewise/webgpu/trace`; it times each kernel. */
  readonly trace?: GpuTrace | undefined;
}

const optionNames = [
  'device',
  'adapter',
  'powerPreference',
  'maxIdleBytes',
  'tiles',
  'load',
  'onLeak',
  'trace',
];

const defaultMaxIdleBytes = 256 * 1024 * 1024;

/**
 * Creates a context on the caller's device or on a new device.
 * @throws InvalidArgumentError for an invalid or unknown option; TilewiseError `NO_ADAPTER` if there is no
 * WebGPU, no adapter, or the adapter gives no device; `UNSUPPORTED` if the device lacks what a trace needs,
 * or a module could not be loaded.
 */
export async function createContext(options: ContextOptions = {}): Promise<GpuContext> {
  checkOptions('options', options, optionNames);
  const { device: given, adapter, tiles, onLeak, trace, powerPreference = 'high-performance' } = options;
  const { maxIdleBytes = defaultMaxIdleBytes, load = loadedModuleNames } = options;
  if (typeof maxIdleBytes !== 'number' || !(maxIdleBytes >= 0)) {
    const rule = `must be a number of bytes ≥ 0, got ${describeValue(maxIdleBytes)}`;
    throw new InvalidArgumentError('maxIdleBytes', rule);
  }
  if (!Array.isArray(load) || !load.every(name => loadedModuleNames.includes(name))) {
    const rule = `must be an array of names from ${loadedModuleNames.join(', ')}, got ${listText(load)}`;
    throw new InvalidArgumentError('load', rule);
  }
  if (onLeak !== undefined) checkFunction('onLeak', onLeak);
  if (trace !== undefined) checkFunction('trace.attach', trace?.attach);
  found(adapter);
  if (tiles !== undefined) checkFunction('tiles', tiles);
  if (adapter !== undefined) checkKind('adapter', adapter, 'a GPUAdapter');
  if (given !== undefined) checkKind('device', given, 'a GPUDevice');
  checkOneOf('powerPreference', powerPreference, ['high-performance', 'low-power']);
  const loading = loadModules(load);
  // If no device is created, nobody awaits the modules.
  loading.catch(() => {});
  const contextOn = async (device: GPUDevice, from: GPUAdapter | undefined): Promise<GpuContext> => {
    const capabilities = await capabilitiesOf(device, from);
    const tileKinds = await loadTileKinds(capabilities).catch(throwLoadError);
    const settings = { maxIdleBytes, tiles, tileKinds, onLeak, trace, ownsDevice: !given };
    return new GpuContext(device, capabilities, { ...settings, modules: await loading });
  };
  if (given) return contextOn(given, adapter);
  const chosen = adapter ?? (await defaultAdapter(powerPreference));
  const device = await chosen.requestDevice(deviceDescriptor(chosen)).catch((cause: unknown) => {
    // An adapter can create only one device.
    throw new TilewiseError('NO_ADAPTER', `the adapter gave no device: ${String(cause)}`, { cause });
  });
  return contextOn(device, chosen).catch((error: unknown) => {
    device.destroy();
    throw error;
  });
}

async function defaultAdapter(powerPreference: GPUPowerPreference): Promise<GPUAdapter> {
  const { gpu } = (globalThis as { navigator?: { gpu?: GPU } }).navigator ?? {};
  if (!gpu) {
    throw new TilewiseError(
      'NO_ADAPTER',
      'navigator.gpu is missing: open a secure page in a browser with WebGPU; in Node, pass an adapter of the npm package webgpu',
    );
  }
  const adapter = await gpu.requestAdapter({ powerPreference }).catch((cause: unknown) => {
    throw new TilewiseError('NO_ADAPTER', `WebGPU gave no adapter: ${String(cause)}`, { cause });
  });
  return found(adapter);
}

/**
 * Returns an adapter. @throws TilewiseError `NO_ADAPTER` for null, which requestAdapter() gives without one.
 */
function found<A>(adapter: A | null): A {
  if (adapter !== null) return adapter;
  const message = 'requestAdapter() gave null: WebGPU found no GPU that it supports, or no driver for it';
  throw new TilewiseError('NO_ADAPTER', message);
}
