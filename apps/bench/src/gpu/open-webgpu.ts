import { writeFileSync } from 'node:fs';
import { type PeakWork, peakWork } from '@tilewise/device-report/measure';
import { createContext, type GpuContext } from '@tilewise/webgpu';
import { matrixTiles } from '@tilewise/webgpu/matrix';
import { createTrace, formatTrace, takeTrace } from '@tilewise/webgpu/trace';
import { type GpuHostKind, openGpu } from '@tilewise/webgpu-host';
import { parseChoice } from '../suite/parse-choices.ts';
import { type SuiteOption, type SuiteOptions, UsageError } from '../suite/suite.ts';
import { giveWay } from './give-way.ts';

/** WebGPU as the bench uses it: one device for everything that a run measures. */
export interface BenchGpu {
  readonly ctx: GpuContext;
  readonly device: GPUDevice;
  readonly gpu: GPU;
  readonly adapter: GPUAdapter;
  readonly kind: GpuHostKind;
  /** The effort with which the adapter's peak is measured. */
  readonly peakWork: PeakWork;
  /**
   * The label of every row of a run: the driver's name for the adapter, its features, and the toggles that
   * were set.
   */
  readonly label: { readonly adapter: string; readonly features: string; readonly toggles: string };
  /** Closes the device, and writes the trace. */
  close(): Promise<void>;
}

const features = [
  'shader-f16',
  'subgroups',
  'timestamp-query',
  'subgroup-size-control',
  'chromium-experimental-subgroup-matrix',
] as const;

// The limits that our kernels use, and those that peers need: a peer gets the device that the bench opens in
// the peer's process.
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

/** The options of every suite that runs on WebGPU. */
export const toggleOption: Readonly<Record<'toggles' | 'trace', SuiteOption>> = {
  toggles: {
    value: 'NAME,…',
    meaning:
      "Dawn's toggles to set, such as vulkan_enable_f16_on_nvidia,allow_unsafe_apis; each row names them",
  },
  trace: {
    value: 'FILE',
    meaning:
      'write the times of all kernels to FILE, for chrome://tracing or ui.perfetto.dev, and as a table to FILE.txt; tracing slows the run down',
  },
};

const tileChoices = ['matrix', 'table'] as const;

/** The option of suites whose kernels can use subgroup matrices. */
export const tilesOption: Readonly<Record<'tiles', SuiteOption>> = {
  tiles: {
    value: tileChoices.join('|'),
    meaning:
      'matrix (default): tiles of subgroup matrices where the device has them; table: the tiles of the built-in table everywhere',
  },
};

/** The options that decide how a suite's device is opened. */
export const deviceOptions = ({ toggles, tiles }: SuiteOptions): SuiteOptions => ({ toggles, tiles });

/** WebGPU on this machine's adapter, with all its features. */
export async function openWebGpu({
  toggles: given,
  tiles = 'matrix',
  trace: file,
}: SuiteOptions = {}): Promise<BenchGpu> {
  const choice = parseChoice('tiles', String(tiles), tileChoices);
  const asked = typeof given === 'string' ? given.split(',').map(name => name.trim()) : undefined;
  if (asked?.some(name => !/^\w+$/.test(name))) {
    throw new UsageError(`--toggles must be names of toggles, got '${given}'.`);
  }
  const giveWayToAdapter = giveWay();
  const { gpu, adapter, kind, description, toggles } = await openGpu({ toggles: asked });
  const device = await adapter.requestDevice({
    requiredFeatures: features.filter(name => adapter.features.has(name)) as GPUFeatureName[],
    requiredLimits: Object.fromEntries(limits.map(name => [name, adapter.limits[name]])),
  });
  const trace = typeof file === 'string' ? createTrace() : undefined;
  const ctx = await createContext({
    device,
    adapter,
    trace,
    ...(choice === 'matrix' && { tiles: matrixTiles }),
  });
  if (kind === 'software') giveWayToAdapter();
  return {
    ...{ ctx, device, gpu, adapter, kind },
    peakWork: peakWork[kind === 'hardware' ? 'hardware' : 'software'],
    label: {
      adapter: description,
      features: features.filter(name => device.features.has(name)).join(' '),
      toggles: toggles.join(' '),
    },
    async close() {
      if (trace && typeof file === 'string') {
        const taken = await takeTrace(trace);
        if (!taken.traceEvents.some(({ cat }) => cat === 'kernel')) {
          process.stderr.write(
            `${file} has no kernels: this suite runs its kernels outside the engine, which a trace does not see.\n`,
          );
        }
        writeFileSync(file, JSON.stringify(taken));
        writeFileSync(`${file}.txt`, `${formatTrace(taken.traceEvents)}\n`);
      }
      ctx.destroy();
      device.destroy();
    },
  };
}
