import { createContext, type GpuContext } from '../../src/index.ts';
import { sharedContext } from './shared-context.ts';

let shared: Promise<GpuContext> | undefined;

/** A context on the tests' shared device that makes its kernels as for a GPU, whatever the adapter is. */
export function contextAsOnGpu(): Promise<GpuContext> {
  shared ??= sharedContext()
    .then(({ device }) => createContext({ device }))
    .then(ctx => Object.assign(ctx, { capabilities: { ...ctx.capabilities, adapter: '' } }));
  return shared;
}

/** The contexts for a test that runs both the adapter's kernels and those for a GPU. */
export const kernelsFor = [
  ['for the adapter', sharedContext],
  ['for a GPU', contextAsOnGpu],
] as const;
