import { cpus } from 'node:os';
import type { TensorDesc } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { referenceEngine } from '@tilewise/core/reference';

export const engineNames = ['reference', 'cpu', 'webgpu'] as const;
export type EngineName = (typeof engineNames)[number];

/** An engine of this machine, and why it was chosen. The type of its tensors is its own. */
export interface HostEngine {
  readonly name: string;
  /** The description of the hardware. */
  readonly adapter: string;
  /** The end of a sentence that starts with the engine's name. */
  readonly reason: string;
  /** Calls a function with the engine. */
  run<R>(use: <T extends TensorDesc>(engine: TensorEngine<T>) => R): R;
  close(): void;
}

const isEngineName = (name: string): name is EngineName => engineNames.some(known => known === name);

/** @throws RangeError for a word that is not the name of an engine. */
export function engineNamed(name: string): EngineName {
  if (isEngineName(name)) return name;
  throw new RangeError(`--engine must be one of ${engineNames.join(', ')}, got '${name}'`);
}

/**
 * Opens the engine with a name. Without a name: WebGPU if this machine has a GPU, else the CPU, because a
 * software adapter is also just a CPU, behind a driver. Dawn is loaded only to look for a GPU.
 * @throws Error if WebGPU was requested and there is none.
 */
export async function openEngine(wanted?: EngineName): Promise<HostEngine> {
  if (wanted === 'webgpu') return openWebGpu('as asked');
  if (wanted !== undefined) return hostEngine(wanted, 'as asked');
  const found = await lookForGpu();
  return found === null
    ? openWebGpu('because there is a GPU')
    : hostEngine('cpu', `because there is no GPU (${found})`);
}

function opened<T extends TensorDesc>(
  engine: TensorEngine<T>,
  adapter: string,
  reason: string,
  close: () => void = () => {},
): HostEngine {
  return { name: engine.name, adapter, reason, run: use => use(engine), close };
}

function hostEngine(name: 'reference' | 'cpu', reason: string): HostEngine {
  const adapter = cpus()[0]?.model.trim() || process.arch;
  return name === 'cpu' ? opened(cpuEngine(), adapter, reason) : opened(referenceEngine(), adapter, reason);
}

/** Null if there is a GPU, else a description of what there is instead. */
async function lookForGpu(): Promise<string | null> {
  try {
    const { openGpu } = await import('@tilewise/webgpu-host');
    const { kind, description } = await openGpu();
    return kind === 'hardware' ? null : `WebGPU would run on ${description}`;
  } catch (error) {
    const [first] = String(error instanceof Error ? error.message : error).split('\n');
    return first.replace(/[.:]?( Tried:)?$/, '');
  }
}

async function openWebGpu(reason: string): Promise<HostEngine> {
  const { openGpu } = await import('@tilewise/webgpu-host');
  const { adapter, description, kind } = await openGpu();
  if (kind === 'null') throw new Error(`WebGPU cannot run here: ${description} computes nothing.`);
  const { createContext, webgpuEngine } = await import('@tilewise/webgpu');
  const ctx = await createContext({ adapter });
  return opened(webgpuEngine(ctx), description, reason, () => ctx.destroy());
}
