import { checkFunction, checkOptions } from '@tilewise/philox/errors';
import { type Capabilities, guaranteedCapabilities } from '../device/capabilities/capabilities.ts';
import type { GpuContext } from '../runtime/context.ts';
import { createContext } from '../runtime/create-context.ts';
import { thoroughCases, usualCases } from './cases.ts';
import { runChecks } from './checks.ts';
import type { AdapterReport, CheckReport, Diagnosis, LimitReport, TileComparison } from './diagnosis.ts';
import { checkVariants } from './variants.ts';
import { missingAdapter, missingDevice, missingWebGpu, verdictOf } from './verdict.ts';

/** The GPU to examine, and what to check. */
export interface DiagnoseOptions {
  /**
   * `navigator.gpu`, or the object that `create()` of the npm package webgpu returned. Default:
   * `navigator.gpu`.
   */
  readonly gpu?: GPU | undefined;
  /** The GPU to examine on a machine with several. Default: 'high-performance'. */
  readonly powerPreference?: GPUPowerPreference | undefined;
  /** The origin of `gpu`, for the report. */
  readonly source?: string | undefined;
  /**
   * Whether to check every dtype, mask, bias and dropout instead of the usual case alone. 'hardware' does so
   * only if the adapter is a GPU, because a CPU needs a minute to compile everything. Default: false.
   */
  readonly thorough?: boolean | 'hardware' | undefined;
  /**
   * Whether to time the tiles of this adapter and the baseline tile, and to compare the times with the cost
   * model's predictions. Takes about 20 seconds on a GPU, and minutes on a software adapter. Default: false.
   */
  readonly tiles?: boolean | undefined;
  /** Called with each check as soon as it is done, and with the total number of checks. */
  readonly onCheck?: ((check: CheckReport, of: number) => void) | undefined;
}

/** The empty findings with which a diagnosis begins. */
export const emptyFindings: Omit<Diagnosis, 'status' | 'verdict' | 'source'> = {
  adapter: null,
  features: [],
  limits: [],
  variants: [],
  checks: [],
};

/**
 * Looks for WebGPU, an adapter and a device, reports their properties, and compares attention forward and
 * backward with the float64 reference. All problems are in the result.
 * @throws InvalidArgumentError for an unknown option or an object that is not a GPU. Other rejections mean a
 * bug in the diagnosis itself.
 */
export async function diagnose(options: DiagnoseOptions = {}): Promise<Diagnosis> {
  checkOptions('options', options, ['gpu', 'powerPreference', 'source', 'thorough', 'tiles', 'onCheck']);
  const { powerPreference = 'high-performance', source = options.gpu ? 'given' : 'navigator.gpu' } = options;
  const gpu = options.gpu ?? (globalThis as { navigator?: { gpu?: GPU } }).navigator?.gpu;
  if (!gpu) {
    const verdict = missingWebGpu(
      'this browser',
      'use a browser that supports WebGPU, on a page served over https or from localhost',
    );
    return { ...emptyFindings, ...verdict, source };
  }
  if (options.gpu) checkFunction('gpu.requestAdapter', gpu.requestAdapter);
  const adapter = await gpu.requestAdapter({ powerPreference });
  if (!adapter) return { ...emptyFindings, ...missingAdapter, source };
  const found = { adapter: describe(adapter), features: [...adapter.features].sort() };
  let ctx: GpuContext;
  try {
    ctx = await createContext({ adapter });
  } catch (error) {
    return { ...emptyFindings, ...missingDevice(String((error as Error).message)), ...found, source };
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

/** Times tiles, with code that is loaded only for a diagnosis of tiles. */
async function timeTiles(ctx: GpuContext): Promise<readonly TileComparison[]> {
  const { compareTiles } = await import('./tile-comparison.ts');
  return compareTiles(ctx);
}

function describe({ info }: GPUAdapter): AdapterReport {
  const { vendor, architecture, device, description, isFallbackAdapter } = info;
  // Not every software driver identifies itself as one.
  const software =
    isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|basic render/i.test(`${description} ${architecture}`);
  return { vendor, architecture, device, description, software };
}

function limitsOf(capabilities: Capabilities): LimitReport[] {
  return Object.entries(guaranteedCapabilities)
    .filter((entry): entry is [keyof Capabilities, number] => typeof entry[1] === 'number')
    .map(([name, guaranteed]) => ({ name, value: Number(capabilities[name]), guaranteed }));
}
