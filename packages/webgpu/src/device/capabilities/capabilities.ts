import { subgroupMatrixFeature } from '../webgpu-flags.ts';
import type { SubgroupMatrixConfig } from './subgroup-matrix-configs.ts';

/**
 * The features and limits of a device that kernels depend on; plain data, so that kernels can be made and
 * read without a device.
 */
export interface Capabilities {
  readonly maxStorageBuffersPerShaderStage: number;
  /** Bytes. */
  readonly maxComputeWorkgroupStorageSize: number;
  readonly maxStorageBufferBindingSize: number;
  readonly minStorageBufferOffsetAlignment: number;
  readonly features: readonly string[];
  /**
   * Vendor and architecture as the adapter gives them, such as 'nvidia ampere'; '' when it keeps them to
   * itself.
   */
  readonly adapter: string;
  /** Invocations that every subgroup has at least, and at most; 0 without the feature `subgroups`. */
  readonly subgroupMinSize: number;
  readonly subgroupMaxSize: number;
  /** Subgroup matrices with sums in f32 that the device multiplies. */
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

/** Features that a device is asked for when its adapter has them; none is required. */
const wantedFeatures: readonly string[] = [
  'shader-f16',
  'subgroups',
  'subgroup-size-control',
  'timestamp-query',
  subgroupMatrixFeature,
];

/** Limits that are raised to what the adapter offers: a kernel with more tensors, larger tensors. */
const wantedLimits = [
  'maxStorageBuffersPerShaderStage',
  'maxStorageBufferBindingSize',
  'maxBufferSize',
  'maxComputeWorkgroupStorageSize',
] as const;

/** The capabilities of a device, and of its adapter, if that is known. */
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

/** Finding the configurations compiles kernels, so only devices that can have some load the code. */
async function findConfigs(
  device: GPUDevice,
  adapter: GPUAdapter | undefined,
): Promise<readonly SubgroupMatrixConfig[]> {
  const { subgroupMatrixConfigsOf } = await import('./subgroup-matrix-configs.ts');
  return subgroupMatrixConfigsOf(device, adapter);
}

/** The descriptor with which a device is asked for. */
export function deviceDescriptor(adapter: GPUAdapter): GPUDeviceDescriptor {
  return {
    label: 'tilewise',
    requiredFeatures: wantedFeatures.filter(feature => adapter.features.has(feature)) as GPUFeatureName[],
    requiredLimits: Object.fromEntries(wantedLimits.map(limit => [limit, adapter.limits[limit]])),
  };
}
