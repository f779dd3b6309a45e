/** What kernels need to know of a device; plain data, so that kernels can be made and read without one. */
export interface Capabilities {
  readonly maxStorageBuffersPerShaderStage: number;
  /** Bytes. */
  readonly maxComputeWorkgroupStorageSize: number;
  readonly maxStorageBufferBindingSize: number;
  readonly minStorageBufferOffsetAlignment: number;
  readonly features: readonly string[];
  /** Vendor and architecture as the adapter gives them, such as 'nvidia ampere'; '' when it keeps them to itself. */
  readonly adapter: string;
  /** Invocations that every subgroup has at least; 0 without the feature `subgroups`. */
  readonly subgroupMinSize: number;
}

/** What WebGPU guarantees everywhere. */
export const guaranteedCapabilities: Capabilities = {
  maxStorageBuffersPerShaderStage: 8,
  maxComputeWorkgroupStorageSize: 16384,
  maxStorageBufferBindingSize: 128 * 1024 * 1024,
  minStorageBufferOffsetAlignment: 256,
  features: [],
  adapter: '',
  subgroupMinSize: 0,
};

/** Features that a device is asked for when its adapter has them; none is required. */
const wantedFeatures: readonly GPUFeatureName[] = ['shader-f16', 'subgroups', 'timestamp-query'];

/** Limits that are raised to what the adapter offers: a kernel with more tensors, larger tensors. */
const wantedLimits = [
  'maxStorageBuffersPerShaderStage',
  'maxStorageBufferBindingSize',
  'maxBufferSize',
  'maxComputeWorkgroupStorageSize',
] as const;

export function capabilitiesOf(device: GPUDevice): Capabilities {
  const { limits, adapterInfo } = device;
  return {
    maxStorageBuffersPerShaderStage: limits.maxStorageBuffersPerShaderStage,
    maxComputeWorkgroupStorageSize: limits.maxComputeWorkgroupStorageSize,
    maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
    minStorageBufferOffsetAlignment: limits.minStorageBufferOffsetAlignment,
    features: [...device.features].sort(),
    adapter: `${adapterInfo?.vendor ?? ''} ${adapterInfo?.architecture ?? ''}`.trim(),
    subgroupMinSize: device.features.has('subgroups') ? (adapterInfo?.subgroupMinSize ?? 4) : 0,
  };
}

/** The descriptor with which a device is asked for. */
export function deviceDescriptor(adapter: GPUAdapter): GPUDeviceDescriptor {
  return {
    label: 'tilewise',
    requiredFeatures: wantedFeatures.filter(feature => adapter.features.has(feature)),
    requiredLimits: Object.fromEntries(wantedLimits.map(limit => [limit, adapter.limits[limit]])),
  };
}
