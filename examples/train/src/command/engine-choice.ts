import { cpus } from 'node:os';
import type { TensorDesc } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { referenceEngine } from '@tilewise/core/reference';
import { createRun, type Run, type RunOptions } from '../run.ts';

export const engineNames = ['reference', 'cpu', 'webgpu'] as const;
export type EngineName = (typeof engineNames)[number];

/** An engine to train on, and why it is this one. */
export interface ChosenEngine {
  readonly name: string;
  /** The description of the hardware. */
  readonly adapter: string;
  /** The end of a sentence that starts with the engine's name. */
  readonly reason: string;
  /** `createRun` on this engine. */
  createRun(options: Omit<RunOptions<TensorDesc>, 'engine'>): Run;
  close(): void;
}

/**
 * The engine that was asked for, or the best one of this machine: WebGPU if it has a GPU, else the CPU,
 * because a software adapter is a CPU too, behind a driver. Dawn is loaded only to look for a GPU.
 * @throws Error when WebGPU was asked for and there is none.
 */
export async function chooseEngine(wanted?: EngineName): Promise<ChosenEngine> {
  if (wanted === 'webgpu') return openWebGpu('as asked');
  if (wanted !== undefined) return hostEngine(wanted, 'as asked');
  const found = await lookForGpu();
  if (found === null) return openWebGpu('as there is a GPU');
  return hostEngine('cpu', `as there is no GPU (${found})`);
}

function chosen<T extends TensorDesc>(
  engine: TensorEngine<T>,
  adapter: string,
  reason: string,
  close: () => void,
): ChosenEngine {
  return {
    name: engine.name,
    adapter,
    reason,
    createRun: options => createRun({ ...options, engine }),
    close,
  };
}

function hostEngine(name: 'reference' | 'cpu', reason: string): ChosenEngine {
  const engine = name === 'cpu' ? cpuEngine() : referenceEngine();
  return chosen(engine, cpus()[0]?.model.trim() || process.arch, reason, () => {});
}

/** Null if there is a GPU, else what there is instead. */
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

async function openWebGpu(reason: string): Promise<ChosenEngine> {
  const { openGpu } = await import('@tilewise/webgpu-host');
  const { adapter, description, kind } = await openGpu();
  if (kind === 'null') throw new Error(`WebGPU cannot train here: ${description} computes nothing.`);
  const { createContext, webgpuEngine } = await import('@tilewise/webgpu');
  const ctx = await createContext({ adapter });
  return chosen(webgpuEngine(ctx), description, reason, () => ctx.destroy());
}
