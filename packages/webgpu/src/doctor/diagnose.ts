import { checkOptions } from '@tilewise/philox/errors';
import { type Capabilities, guaranteedCapabilities } from '../device/capabilities/capabilities.ts';
import type { GpuContext } from '../runtime/context.ts';
import { createContext } from '../runtime/create-context.ts';
import { thoroughCases, usualCases } from './cases.ts';
import { runChecks } from './checks.ts';
import type { AdapterReport, CheckReport, Diagnosis, LimitReport, TileComparison } from './diagnosis.ts';
import { checkVariants } from './variants.ts';
import { missingAdapter, missingDevice, missingWebGpu, verdictOf } from './verdict.ts';

/** The GPU to look at. Default: `navigator.gpu`. */
export interface DiagnoseOptions {
  /** `navigator.gpu`, or what `create()` of the npm package webgpu returned. */
  readonly gpu?: GPU | undefined;
  readonly powerPreference?: GPUPowerPreference | undefined;
  /** Where `gpu` comes from, for the report. */
  readonly source?: string | undefined;
  /**
   * Whether to check every dtype, mask, bias and dropout, and not the usual case alone; 'hardware' where a
   * GPU does the work, as a CPU needs a minute to compile it all. Default: false.
   */
  readonly thorough?: boolean | 'hardware' | undefined;
  /**
   * Whether to time the tiles of this adapter next to the tile of every device, and to say what the cost
   * model predicts. Takes about 20 seconds on a GPU, and minutes on a CPU that plays one. Default: false.
   */
  readonly tiles?: boolean | undefined;
  /** Hears of each check as soon as the check is done, and how many there will be. */
  readonly onCheck?: ((check: CheckReport, of: number) => void) | undefined;
}

/** What a diagnosis has found before it begins. */
export const nothing: Omit<Diagnosis, 'status' | 'verdict' | 'source'> = {
  adapter: null,
  features: [],
  limits: [],
  variants: [],
  checks: [],
};

/**
 * Looks for WebGPU, an adapter and a device, says what they have, and runs attention forward and backward
 * against the float64 reference. What is wrong is in the result; it rejects with nothing but bugs of its own.
 */
export async function diagnose(options: DiagnoseOptions = {}): Promise<Diagnosis> {
  checkOptions('options', options, ['gpu', 'powerPreference', 'source', 'thorough', 'tiles', 'onCheck']);
  const { powerPreference = 'high-performance', source = options.gpu ? 'given' : 'navigator.gpu' } = options;
  const gpu = options.gpu ?? (globalThis as { navigator?: { gpu?: GPU } }).navigator?.gpu;
  if (!gpu) {
    const verdict = missingWebGpu(
      'this browser',
      'use a browser that has it, on a page served by https or from localhost',
    );
    return { ...nothing, ...verdict, source };
  }
  const adapter = await gpu.requestAdapter({ powerPreference });
  if (!adapter) return { ...nothing, ...missingAdapter, source };
  const found = { adapter: describe(adapter), features: [...adapter.features].sort() };
  let ctx: GpuContext;
  try {
    ctx = await createContext({ adapter });
  } catch (error) {
    return { ...nothing, ...missingDevice(String((error as Error).message)), ...found, source };
  }
  try {
    const limits = limitsOf(ctx.capabilities);
    const variants = checkVariants(ctx);
    const { thorough = false, onCheck } = options;
    const isThorough = thorough === 'hardware' ? !found.adapter.software : thorough;
    const checks = await runChecks(ctx, isThorough ? thoroughCases : usualCases, onCheck);
    const tiles = options.tiles && { tiles: await timeTiles(ctx) };
    return {
      ...verdictOf(found.adapter, variants, checks),
      source,
      ...found,
      limits,
      variants,
      checks,
      ...tiles,
    };
  } finally {
    ctx.destroy();
  }
}

/** Times tiles by code that only a diagnosis of tiles loads. */
async function timeTiles(ctx: GpuContext): Promise<readonly TileComparison[]> {
  const { compareTiles } = await import('./tile-comparison.ts');
  return compareTiles(ctx);
}

function describe({ info }: GPUAdapter): AdapterReport {
  const { vendor, architecture, device, description, isFallbackAdapter } = info;
  // Not every driver that runs on the CPU says so.
  const software =
    isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|basic render/i.test(`${description} ${architecture}`);
  return { vendor, architecture, device, description, software };
}

function limitsOf(capabilities: Capabilities): LimitReport[] {
  return Object.entries(guaranteedCapabilities)
    .filter((entry): entry is [keyof Capabilities, number] => typeof entry[1] === 'number')
    .map(([name, guaranteed]) => ({ name, value: Number(capabilities[name]), guaranteed }));
}
