import { createContext, type GpuContext } from '@tilewise/webgpu';
import { type GpuHostKind, openGpu } from '@tilewise/webgpu-host';
import type { SubgroupMatrixConfig } from './roof/subgroup-matrix-matmul.ts';
import { type SuiteOption, type SuiteOptions, UsageError } from './suite.ts';

/** WebGPU as the bench uses it: one device for everything that a run measures. */
export interface BenchGpu {
  readonly ctx: GpuContext;
  readonly device: GPUDevice;
  readonly gpu: GPU;
  readonly adapter: GPUAdapter;
  readonly kind: GpuHostKind;
  /** Those of f16 with sums in f32 that the adapter has. */
  readonly matrices: readonly SubgroupMatrixConfig[];
  /** Lanes of the largest subgroup. */
  readonly maxSubgroupSize: number;
  /** What every row of a run says: the adapter in the driver's words, features that it has, toggles that were set. */
  readonly label: { readonly adapter: string; readonly features: string; readonly toggles: string };
  close(): void;
}

const features = [
  'shader-f16',
  'subgroups',
  'timestamp-query',
  'chromium-experimental-subgroup-matrix',
] as const;

// What peers ask for, which share the device, as well as what kernels of ours use.
const limits = [
  'maxStorageBuffersPerShaderStage',
  'maxStorageBufferBindingSize',
  'maxBufferSize',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupSizeZ',
] as const;

/** The option of every suite that runs on WebGPU. */
export const toggleOption: Readonly<Record<'toggles', SuiteOption>> = {
  toggles: {
    value: 'NAME,…',
    meaning:
      "Dawn's toggles to set, such as vulkan_enable_f16_on_nvidia,allow_unsafe_apis; each row names them",
  },
};

/** WebGPU on the adapter of this machine, with all that it has. */
export async function openWebGpu({ toggles: given }: SuiteOptions = {}): Promise<BenchGpu> {
  const asked = typeof given === 'string' ? given.split(',').map(name => name.trim()) : undefined;
  if (asked?.some(name => !/^\w+$/.test(name))) {
    throw new UsageError(`--toggles takes names of toggles, not '${given}'.`);
  }
  const { gpu, adapter, kind, description, toggles } = await openGpu({ toggles: asked });
  const device = await adapter.requestDevice({
    requiredFeatures: features.filter(name => adapter.features.has(name)) as GPUFeatureName[],
    requiredLimits: Object.fromEntries(limits.map(name => [name, adapter.limits[name]])),
  });
  const ctx = await createContext({ device });
  const info = adapter.info as GPUAdapterInfo & {
    readonly subgroupMatrixConfigs?: Iterable<SubgroupMatrixConfig>;
  };
  const has = (name: (typeof features)[number]): boolean => device.features.has(name);
  const matrices = has('chromium-experimental-subgroup-matrix')
    ? [...(info.subgroupMatrixConfigs ?? [])]
    : [];
  return {
    ...{ ctx, device, gpu, adapter, kind },
    matrices: matrices.filter(
      ({ componentType, resultComponentType }) => componentType === 'f16' && resultComponentType === 'f32',
    ),
    maxSubgroupSize: info.subgroupMaxSize,
    label: {
      adapter: description,
      features: features.filter(has).join(' '),
      toggles: toggles.join(' '),
    },
    close() {
      ctx.destroy();
      device.destroy();
    },
  };
}
