import { subgroupMatrixFeature } from '../webgpu-flags.ts';
import type { SubgroupMatrixConfig } from './subgroup-matrix-configs.ts';

/**
 * The features and limits of a device that kernels depend on. Plain data, so that kernels can be generated
 * and read without a device.
 */
export interface Capabilities {
  /** The number of storage buffers that one kernel can bind; at least 8. */
  readonly maxStorageBuffersPerShaderStage: number;
  /** The bytes of workgroup memory that one kernel can use; at least 16 KiB. */
  readonly maxComputeWorkgroupStorageSize: number;
  /** The largest part of a buffer that a kernel can bind, in bytes; at least 128 MiB. */
  readonly maxStorageBufferBindingSize: number;
  /** A binding must start at a multiple of this number of bytes, which is at most 256. */
  readonly minStorageBufferOffsetAlignment: number;
  /** The names of the device's WebGPU features, such as 'shader-f16', sorted. */
  readonly features: readonly string[];
  /**
   * Vendor and architecture as reported by the adapter, such as 'nvidia ampere'; '' if the adapter hides
   * them.
   */
  readonly adapter: string;
  /** The smallest number of invocations in a subgroup; 0 without the feature `subgroups`. */
  readonly subgroupMinSize: number;
  /** The largest number of invocations in a subgroup; 0 without the feature `subgroups`. */
  readonly subgroupMaxSize: number;
  /** The subgroup matrix shapes that the device multiplies with sums in f32. */
  readonly subgroupMatrixConfigs: readonly SubgroupMatrixConfig[];
}

/** The limits that WebGPU guarantees everywhere. */
export const guaranteedCapabilities: Capabilities = {
  maxStorageBuffersPerShaderStage: 8,
  maxComputeWorkgroupStorageSize: 16384,
  maxStorageBufferBindingSize: 128 * 1024 * 1024,
  minStorageBufferOffsetAlignment: 256,
  features: [],
  adapter: '',
  subgroupMinSize: 0,
  subgroupMaxSize: 0,
  subgroupMatrixConfigs: [],
};

/** Features that are requested for a device if its adapter has them; none is required. */
const wantedFeatures: readonly string[] = [
  'shader-f16',
  'subgroups',
  'subgroup-size-control',
  'timestamp-query',
  subgroupMatrixFeature,
];

/** Limits that are raised to those of the adapter, for kernels with more tensors and for larger tensors. */
const wantedLimits = [
  'maxStorageBuffersPerShaderStage',
  'maxStorageBufferBindingSize',
  'maxBufferSize',
  'maxComputeWorkgroupStorageSize',
] as const;

/** The capabilities of a device, and of its adapter if the adapter is known. */
export async function capabilitiesOf(device: GPUDevice, adapter?: GPUAdapter): Promise<Capabilities> {
  const { limits, adapterInfo } = device;
  const has = (feature: string): boolean => device.features.has(feature);
  return {
    maxStorageBuffersPerShaderStage: limits.maxStorageBuffersPerShaderStage,
    maxComputeWorkgroupStorageSize: limits.maxComputeWorkgroupStorageSize,
    maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
    minStorageBufferOffsetAlignment: limits.minStorageBufferOffsetAlignment,
    features: [...device.features].sort(),
    adapter: `${adapterInfo?.vendor ?? ''} ${adapterInfo?.architecture ?? ''}`.trim(),
    subgroupMinSize: has('subgroups') ? (adapterInfo?.subgroupMinSize ?? 4) : 0,
    subgroupMaxSize: has('subgroups') ? (adapterInfo?.subgroupMaxSize ?? 128) : 0,
    subgroupMatrixConfigs: has(subgroupMatrixFeature) ? await findConfigs(device, adapter) : [],
  };
}

/**
 * The search for configurations compiles kernels, so its code is only loaded for devices that may have some.
 */
async function findConfigs(
  device: GPUDevice,
  adapter: GPUAdapter | undefined,
): Promise<readonly SubgroupMatrixConfig[]> {
  const { subgroupMatrixConfigsOf } = await import('./subgroup-matrix-configs.ts');
  return subgroupMatrixConfigsOf(device, adapter);
}

/** The descriptor with which a device is requested. */
export function deviceDescriptor(adapter: GPUAdapter): GPUDeviceDescriptor {
  return {
    label: 'tilewise',
    requiredFeatures: wantedFeatures.filter(feature => adapter.features.has(feature)) as GPUFeatureName[],
    requiredLimits: Object.fromEntries(wantedLimits.map(limit => [limit, adapter.limits[limit]])),
  };
}
