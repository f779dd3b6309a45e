import { type BackwardProblem, normaliseBackward, Tensor } from '@tilewise/core';
import type { GpuContext } from '../runtime/context.ts';
import { baselineTile, describeTile, modelTile, tableTile, tune } from '../tune/index.ts';
import type { TileComparison } from './diagnosis.ts';

const kernels = ['forward', 'dq', 'dkdv'] as const;

/** A problem that keeps a GPU busy for several milliseconds. */
function timedProblem(): BackwardProblem {
  const x = Tensor.zeros([1, 16, 1024, 64]);
  const lse = Tensor.zeros([1, 16, 1024]);
  return normaliseBackward({ q: x, k: x, v: x, o: x, lse, dO: x }).problem;
}

/**
 * Times the tiles of an adapter and the baseline tile, and adds the cost model's predictions. On a software
 * adapter, this takes minutes.
 */
export async function compareTiles(
  ctx: GpuContext,
  problem: BackwardProblem = timedProblem(),
): Promise<TileComparison[]> {
  const { forward } = problem;
  const { capabilities } = ctx;
  const own = kernels.map(kernel => ({ kernel, tile: tableTile(kernel, forward, capabilities) }));
  const candidates = Object.fromEntries(own.map(({ kernel, tile }) => [kernel, [baselineTile, tile]]));
  const { timings } = await tune(ctx, problem, { candidates });
  return own.map(({ kernel, tile }): TileComparison => {
    const msOf = (of: object): number | undefined =>
      timings.find(({ role, tile: timed }) => role === kernel && timed === of)?.ms;
    const [ms, baselineMs] = [msOf(tile), msOf(baselineTile)];
    const model = modelTile(kernel, forward, 'stationary' in tile ? baselineTile : tile, capabilities);
    return {
      ...{ kernel, adapterClass: model.adapterClass, tile: describeTile(tile) },
      predicted: 'stationary' in tile ? null : model.relativeTime,
      measured: ms === undefined || baselineMs === undefined ? null : ms / baselineMs,
    };
  });
}
