import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { rewriteShaders, withReversedLanes } from './devices/rewrite-shaders.ts';
import { restBetweenPolls } from './rest-between-polls.ts';
import { findLavapipe, hasVulkanDriver } from './vulkan/drivers.ts';
import { loadVulkanLoader, useVulkanDriver } from './vulkan/loader.ts';
import {
  isSwiftShaderPackaged,
  packageName,
  packageVersion,
  swiftShaderDriver,
} from './vulkan/swiftshader.ts';
import { workgroupInitToggle } from './vulkan/workgroup-init.ts';

/**
 * The kind of adapter that kernels run on: a GPU, a CPU that emulates a GPU, or Dawn's null backend, which
 * checks but computes nothing.
 */
export type GpuHostKind = 'hardware' | 'software' | 'null';

export interface OpenGpuOptions {
  /** `'null'` opens Dawn's null backend: every feature, full WGSL type-checking, no execution. */
  readonly backend?: 'null';
  /**
   * Dawn's toggles to enable, for example `allow_unsafe_apis`. Default: the toggles in `TILEWISE_TOGGLES`.
   */
  readonly toggles?: readonly string[];
  /**
   * Other flags, passed to Dawn's `create()` unchanged, for example
   * `disable-dawn-features=timestamp_quantization`.
   */
  readonly dawnFlags?: readonly string[];
}

export interface GpuHost {
  /** The GPU object of the whole process; ask it for as many adapters as needed. */
  readonly gpu: GPU;
  /** An adapter for this call alone: an adapter can create only one device, so each call gets a new one. */
  readonly adapter: GPUAdapter;
  /** The driver's description of the adapter, for example `SwiftShader driver 5.0.0`. */
  readonly description: string;
  readonly kind: GpuHostKind;
  /** Why this adapter was chosen, as a sentence for a log. */
  readonly source: string;
  /** The Dawn toggles that were requested. */
  readonly toggles: readonly string[];
}

type Opened = Omit<GpuHost, 'adapter' | 'toggles'>;
type Dawn = { create(flags: string[]): GPU; globals: object };

// Dawn's instance must stay reachable for as long as any of its devices lives, and a process that loads this
// module twice (source and build, or two copies) must not choose two drivers: hence a registry on globalThis.
const registryKey = Symbol.for('@tilewise/webgpu-host');
const registryHost = globalThis as { [registryKey]?: Map<string, Promise<Opened>> };
registryHost[registryKey] ??= new Map();
const registry = registryHost[registryKey];

/**
 * Opens WebGPU in Node and installs its globals (`GPUBufferUsage`, `GPUShaderStage`, …) on `globalThis`.
 *
 * The adapter is, in this order: the one that the environment variable `TILEWISE_ADAPTER` names (`hardware`,
 * `swiftshader`, `lavapipe`, `null`, or the path of a Vulkan ICD file); the machine's own GPU; SwiftShader
 * from npm; whatever software adapter the machine has. Throws an `Error` that says what was tried when there
 * is none.
 *
 * With `TILEWISE_LANES=reversed`, kernels number their lanes in the reverse order: see `withReversedLanes`.
 */
export async function openGpu(options: OpenGpuOptions = {}): Promise<GpuHost> {
  const { dawnFlags = [], toggles = togglesOf(process.env.TILEWISE_TOGGLES ?? '') } = options;
  const isReversed = reversesLanes(process.env.TILEWISE_LANES ?? '');
  const wanted = options.backend === 'null' ? 'null' : (process.env.TILEWISE_ADAPTER ?? '');
  // The null backend is for checking everything. Dawn heeds only the last of several flags with one name, so
  // all features are in one flag.
  const enabled = wanted === 'null' ? ['allow_unsafe_apis', ...toggles] : toggles;
  const flags = [...(enabled.length > 0 ? [`enable-dawn-features=${enabled.join(',')}`] : []), ...dawnFlags];
  const key = JSON.stringify([wanted, flags]);
  let opened = registry.get(key);
  if (!opened) {
    opened = choose(wanted, flags);
    registry.set(key, opened);
    opened.catch(() => registry.delete(key));
  }
  const host = await opened;
  if (host.kind === 'software') restBetweenPolls();
  const adapter = await request(host.gpu);
  if (!adapter) throw new Error(`${host.description} was found before, and is gone now (${host.source}).`);
  if (isReversed) rewriteShaders(adapter, withReversedLanes);
  return { ...host, adapter, toggles };
}

function reversesLanes(lanes: string): boolean {
  if (lanes !== '' && lanes !== 'reversed')
    throw new Error(`TILEWISE_LANES is "${lanes}"; it must be reversed, or not set.`);
  return lanes === 'reversed';
}

/** Names with commas between them, as a list. */
function togglesOf(text: string): string[] {
  return text
    .split(',')
    .map(name => name.trim())
    .filter(Boolean);
}

async function choose(wanted: string, flags: string[]): Promise<Opened> {
  const dawn = await loadDawn();
  Object.assign(globalThis, dawn.globals);
  switch (wanted) {
    case '':
      return chooseForMachine(dawn, flags);
    case 'null':
      return openNull(dawn, flags);
    case 'hardware':
      return openHardware(dawn, flags);
    case 'swiftshader':
      return openDriver(dawn, flags, await swiftShaderDriver(), 'TILEWISE_ADAPTER=swiftshader');
    case 'lavapipe':
      return openDriver(dawn, flags, findLavapipe(), 'TILEWISE_ADAPTER=lavapipe');
    default:
      return openDriver(dawn, flags, icdFile(wanted), `TILEWISE_ADAPTER=${wanted}`);
  }
}

async function chooseForMachine(dawn: Dawn, flags: string[]): Promise<Opened> {
  const own = await openOwn(dawn, flags);
  if (own?.kind === 'hardware') return own;
  const tried = [`this machine's own GPU: ${own ? `only ${own.description}` : 'none'}`];
  if (isSwiftShaderPackaged()) {
    try {
      const source = `SwiftShader from ${packageName} ${packageVersion()}, as this machine has no GPU`;
      return await openDriver(dawn, flags, await swiftShaderDriver(), source);
    } catch (error) {
      tried.push(`SwiftShader from ${packageName}: ${error}`);
    }
  } else {
    tried.push(`SwiftShader from ${packageName}: not for ${process.platform}-${process.arch}`);
  }
  if (own) return { ...own, source: "this machine's own software adapter, as it has no GPU" };
  throw noAdapter(tried);
}

async function openOwn(dawn: Dawn, flags: string[]): Promise<Opened | undefined> {
  // Without a driver, there is no adapter, and asking Vulkan would only fill the log with warnings.
  if (process.platform === 'linux' && !hasVulkanDriver()) return undefined;
  await loadVulkanLoader();
  const gpu = dawn.create(flags);
  const adapter = await request(gpu);
  return adapter ? describe(gpu, adapter, "this machine's own GPU") : undefined;
}

async function openHardware(dawn: Dawn, flags: string[]): Promise<Opened> {
  const own = await openOwn(dawn, flags);
  if (own?.kind === 'hardware') return { ...own, source: 'TILEWISE_ADAPTER=hardware' };
  throw noAdapter([`this machine's own GPU: ${own ? `only ${own.description}` : 'none'}`]);
}

async function openDriver(dawn: Dawn, flags: string[], icd: string, source: string): Promise<Opened> {
  await loadVulkanLoader();
  useVulkanDriver(icd);
  const gpu = dawn.create(['backend=vulkan', `disable-dawn-features=${workgroupInitToggle}`, ...flags]);
  const adapter = await request(gpu);
  if (!adapter) throw noAdapter([`the Vulkan driver ${icd}: no adapter (${source})`]);
  return describe(gpu, adapter, source);
}

async function openNull(dawn: Dawn, flags: string[]): Promise<Opened> {
  const gpu = dawn.create(['backend=null', ...flags]);
  const adapter = await request(gpu);
  if (!adapter) throw noAdapter(["Dawn's null backend: no adapter"]);
  return {
    gpu,
    kind: 'null',
    description: "Dawn's null backend",
    source: 'as requested: checks shaders, computes nothing',
  };
}

async function loadDawn(): Promise<Dawn> {
  try {
    return await import('webgpu');
  } catch (cause) {
    throw new Error(
      `The npm package "webgpu" (Dawn) did not load on ${process.platform}-${process.arch}; ` +
        'it needs macOS, Windows, or Linux with glibc.',
      { cause },
    );
  }
}

function request(gpu: GPU): Promise<GPUAdapter | null> {
  return gpu.requestAdapter({ powerPreference: 'high-performance' });
}

function describe(gpu: GPU, adapter: GPUAdapter, source: string): Opened {
  return { gpu, kind: kindOf(adapter), description: nameOf(adapter), source };
}

function kindOf({ info }: GPUAdapter): GpuHostKind {
  // Not every driver that runs on the CPU reports itself as a fallback adapter, so known names count, too.
  const software =
    info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|basic render/i.test(info.description);
  return software ? 'software' : 'hardware';
}

function nameOf({ info }: GPUAdapter): string {
  return (
    info.description || [info.vendor, info.architecture, info.device].filter(Boolean).join(' ') || 'unnamed'
  );
}

function icdFile(path: string): string {
  const file = isAbsolute(path) ? path : resolve(path);
  if (existsSync(file)) return file;
  throw new Error(
    `TILEWISE_ADAPTER is "${path}", which is neither hardware, swiftshader, lavapipe or null, nor an existing Vulkan ICD file.`,
  );
}

function noAdapter(tried: readonly string[]): Error {
  return new Error(
    [
      'No WebGPU adapter. Tried:',
      ...tried.map(line => `  - ${line}`),
      'Set TILEWISE_ADAPTER to hardware, swiftshader (Linux x64), lavapipe (the package mesa-vulkan-drivers), null ' +
        '(checks shaders, computes nothing), or the path of a Vulkan ICD file.',
    ].join('\n'),
  );
}
