import type { Tensor } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { createContext, type GpuContext, type GpuTensor, webgpuEngine } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import type { PartitionPolicy } from '../../src/compile/partition.ts';
import type { Graph } from '../../src/graph.ts';

export interface GpuEngine {
  readonly ctx: GpuContext;
  readonly engine: TensorEngine<GpuTensor>;
}

let shared: Promise<GpuEngine> | undefined;

/**
 * One engine for all tests of a file, because a software adapter takes long to compile a kernel, which is
 * cached per device.
 */
export function sharedGpu(): Promise<GpuEngine> {
  shared ??= openGpu()
    .then(({ adapter }) => createContext({ adapter }))
    .then(ctx => ({ ctx, engine: webgpuEngine(ctx) }));
  return shared;
}

/** Runs a graph on WebGPU and reads its results back. */
export async function runOnGpu(
  graph: Graph,
  bindings: Readonly<Record<number, Tensor | number | bigint>>,
  policy?: PartitionPolicy,
): Promise<Record<number, Tensor>> {
  const { engine } = await sharedGpu();
  const results = await graph.run(engine, bindings, { policy });
  const read: Record<number, Tensor> = {};
  for (const [id, tensor] of Object.entries(results)) {
    read[Number(id)] = await engine.download(tensor);
    engine.release(tensor);
  }
  return read;
}
