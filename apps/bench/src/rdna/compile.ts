import { writeSync } from 'node:fs';
import { type AttentionProblem, normaliseBackward, Tensor } from '@tilewise/core';
import { createContext, planSdpa, planSdpaBackward } from '@tilewise/webgpu';
import {
  baselineTile,
  describeTile,
  modelTile,
  type TileModel,
  tableTile,
  tilesFrom,
} from '@tilewise/webgpu/tune';
import { openGpu } from '@tilewise/webgpu-host';
import { markLoops } from './listing.ts';

/** A compiled kernel, as the process that compiles announces the kernel before Mesa lists it. */
export interface CompiledKernel {
  readonly kernel: 'forward' | 'dq' | 'dkdv';
  readonly D: number;
  readonly dtype: 'f32' | 'f16';
  /** The baseline tile, or the table's tile for AMD. */
  readonly which: 'old' | 'new';
  readonly tile: string;
  readonly lanes: number;
  /** Scores of a lane. */
  readonly scores: number;
  readonly model: TileModel;
  /** The mark of the loop over tiles, and the number of iterations of each marked loop. */
  readonly loop: number;
  readonly iterations: readonly (readonly [mark: number, iterations: number])[];
}

/** Begins the announcement of a kernel on standard error. */
export const announcement = '@@kernel ';

const operand = (D: number, dtype: 'f32' | 'f16'): Tensor => Tensor.zeros([1, 32, 1024, D], { dtype });

/**
 * Compiles the kernels of forward, dQ and dK/dV with the old tile and the new one, on an adapter of AMD.
 * Announces each on standard error, where Mesa then lists the kernel.
 */
export async function compileKernels(): Promise<void> {
  for (const D of [64, 128])
    for (const dtype of ['f32', 'f16'] as const)
      for (const kernel of ['forward', 'dq', 'dkdv'] as const)
        for (const which of ['old', 'new'] as const) await compile(kernel, D, dtype, which);
}

async function compile(
  kernel: CompiledKernel['kernel'],
  D: number,
  dtype: CompiledKernel['dtype'],
  which: CompiledKernel['which'],
): Promise<void> {
  const { adapter } = await openGpu();
  const probe = await createContext({ adapter });
  const { device } = probe;
  // Kernels with subgroup matrices follow other rules; the table is about tiles in workgroup memory.
  const capabilities = { ...probe.capabilities, subgroupMatrixConfigs: [] };
  const x = operand(D, dtype);
  const lse = Tensor.zeros([1, 32, 1024]);
  const gradients = kernel === 'dq' ? (['dq'] as const) : (['dk', 'dv'] as const);
  const { problem: backward } = normaliseBackward(
    { q: x, k: x, v: x, o: x, lse, dO: x },
    { gradients: [...gradients] },
  );
  const problem: AttentionProblem = backward.forward;
  const tile = which === 'old' ? baselineTile : tableTile(kernel, problem, capabilities);
  if ('stationary' in tile)
    throw new Error(`the table has ${describeTile(tile)} for AMD, which is not a tile of lanes`);
  const { tx, ty, rows = 4, cols = 1, headDimChunk } = tile;
  const announce = (wgsl: string): string => {
    const loop = kernel === 'dkdv' ? 'i0' : 'j0';
    const marked = markLoops(wgsl, {
      ...{ channels: D, used: Math.min(headDimChunk, D / 4), lane: 0, 'P.Dqk': D, 'P.Dv': D },
    });
    const overTiles = marked.loops.find(({ variable }) => variable === loop);
    if (!overTiles) return wgsl;
    const compiled: CompiledKernel = {
      ...{ kernel, D, dtype, which, tile: describeTile(tile), lanes: tx * ty, scores: 4 * rows * cols },
      model: modelTile(kernel, problem, tile, capabilities),
      loop: overTiles.mark,
      iterations: marked.loops.map(({ mark, iterations }) => [mark, iterations]),
    };
    writeSync(2, `${announcement}${JSON.stringify(compiled)}\n`);
    return marked.wgsl;
  };
  const make = device.createComputePipelineAsync.bind(device);
  const compileModule = device.createShaderModule.bind(device);
  const texts = new WeakMap<GPUShaderModule, GPUShaderModuleDescriptor>();
  let turn: Promise<unknown> = Promise.resolve();
  Object.defineProperty(device, 'createShaderModule', {
    value: (descriptor: GPUShaderModuleDescriptor) => {
      const module = compileModule(descriptor);
      texts.set(module, descriptor);
      return module;
    },
  });
  // One after the other, so that Mesa's output belongs to the kernel that was announced last.
  Object.defineProperty(device, 'createComputePipelineAsync', {
    value: (descriptor: GPUComputePipelineDescriptor) => {
      const made = turn.then(() => {
        const text = texts.get(descriptor.compute.module);
        const module = text && compileModule({ ...text, code: announce(text.code) });
        return make(module ? { ...descriptor, compute: { ...descriptor.compute, module } } : descriptor);
      });
      turn = made;
      return made;
    },
  });
  const ctx = await createContext({ device, tiles: tilesFrom({ [kernel]: tile }) });
  const plan = kernel === 'forward' ? planSdpa(ctx, problem) : planSdpaBackward(ctx, backward);
  await plan.warmUp();
}
