import {
  type AttentionProblem,
  type BackwardProblem,
  checkOptions,
  describeValue,
  InvalidArgumentError,
  validate,
  validateBackward,
} from '@tilewise/core';
import { checkProblem } from '@tilewise/core/engine';
import { forwardRole } from '../attention/kernels/forward/forward-shape.ts';
import { isForward, type TileRole, tileRoles } from '../attention/tiles/tile.ts';
import { checkContext } from '../device/check-kind.ts';
import type { GpuContext } from '../runtime/context.ts';
import { tileCandidates } from './candidates.ts';
import type { ClockKind } from './gpu-clock.ts';
import { forwardOf, gradientsOf, TileBench, type TileTiming, type Work } from './tile-bench.ts';
import { checkDescription, type TileDescription, type TileDescriptions } from './tile-description.ts';

/** The options of `tune`. */
export interface TuneOptions {
  /**
   * The approximate time limit in seconds. Half of it is for compiling; after that, no further tiles are
   * tried. Default 20.
   */
  readonly seconds?: number | undefined;
  /**
   * Tiles to time instead of those that this library proposes; kernels that the problem does not run are
   * ignored. The first tile of a kernel is always timed, and its results count as correct.
   */
  readonly candidates?: { readonly [Role in TileRole]?: readonly TileDescription[] } | undefined;
}

/** The result of tuning. Plain data. */
export interface Tuning {
  /** The fastest tile of each kernel, for `tilesFrom`. */
  readonly choice: TileDescriptions;
  /** The timings, grouped by kernel, the fastest tile first. */
  readonly timings: readonly TileTiming[];
  /** The tiles that were not timed, with the reasons. */
  readonly omitted: readonly OmittedTile[];
  /** The clock of all timings. */
  readonly clock: ClockKind;
}

/** A tile that was not timed, with the reason. */
export interface OmittedTile {
  /** The kernel that the tile was a candidate for. */
  readonly role: TileRole;
  /** The tile, as plain data. */
  readonly tile: TileDescription;
  /** Why it was not timed: the device lacks something, its results differ, or time ran out. */
  readonly reason: string;
}

/**
 * Times tiles of the large kernels of a problem on a context's device: of the forward kernel and, for a
 * backward problem, of the kernels for dQ and dK/dV. Uses temporary tensors in place of the problem's. Omits
 * tiles whose results differ from those of the first tile. Each round times all tiles in turn, so that other
 * load on the machine slows all of them down alike.
 * @throws InvalidArgumentError for options that are unknown or out of range, and for a problem whose tiles
 * are fixed (FP8) or whose tensors decide what is computed (lengths, packed sequences, pages, block masks):
 * tune the same problem without these. Otherwise as `planSdpa` and `planSdpaBackward`.
 */
export async function tune(
  ctx: GpuContext,
  problem: AttentionProblem | BackwardProblem,
  options: TuneOptions = {},
): Promise<Tuning> {
  checkContext(ctx);
  checkOptions('options', options, ['seconds', 'candidates']);
  const { seconds = 20, candidates = {} } = options;
  checkOptions('options.candidates', candidates, tileRoles);
  const roles = checkedRoles(problem);
  if (typeof seconds !== 'number' || !(seconds >= 0)) {
    const rule = `must be a number of at least 0, got ${describeValue(seconds)}`;
    throw new InvalidArgumentError('options.seconds', rule);
  }
  const forward = forwardOf(problem);
  const entries = roles.flatMap(role => {
    const tiles = candidates[role] ?? tileCandidates(role, forward, ctx.capabilities);
    if (!Array.isArray(tiles) || tiles.length === 0) {
      const got = Array.isArray(tiles) ? 'none' : describeValue(tiles);
      const rule = `must be an array of at least one tile, got ${got}`;
      throw new InvalidArgumentError(`options.candidates.${role}`, rule);
    }
    return tiles.map((tile, rank) => ({ role, tile, rank }));
  });
  for (const { role, tile, rank } of entries)
    checkDescription(`options.candidates.${role}[${rank}]`, role, tile);
  // The most promising tiles of all kernels come first, in case there is no time for all tiles.
  entries.sort((a, b) => a.rank - b.rank);

  const start = performance.now();
  const spent = (): number => (performance.now() - start) / 1000;
  const bench = await TileBench.open(ctx, problem);
  try {
    const works: Work[] = [];
    const omitted: OmittedTile[] = [];
    for (const { role, tile, rank } of entries) {
      const made =
        rank > 0 && spent() > seconds / 2 ? 'there was no time left' : await bench.prepare(role, tile);
      if (typeof made === 'string') omitted.push({ role, tile, reason: made });
      else works.push(made);
    }
    const times = await bench.time(works, () => spent() > seconds);
    ctx.checkAlive();
    const ofRoles = roles.map(role => times.filter(t => t.role === role).sort((a, b) => a.ms - b.ms));
    const choice = Object.fromEntries(ofRoles.flatMap(([best]) => (best ? [[best.role, best.tile]] : [])));
    return { choice, timings: ofRoles.flat(), omitted, clock: bench.clock };
  } finally {
    bench.destroy();
  }
}

/** The kernels of a problem whose tiles can be tuned. Throws as `tune` does. */
function checkedRoles(problem: AttentionProblem | BackwardProblem): TileRole[] {
  checkProblem(problem);
  if ('forward' in problem) validateBackward(problem);
  else validate(problem);
  const { fp8, q, k, v, o, lengthsQ, lengthsKv, blockMask } = forwardOf(problem);
  if (fp8) throw new InvalidArgumentError('problem', 'must not use 8-bit arithmetic, whose tiles are fixed');
  const isPlain =
    [q, k, v, o].every(({ starts, page }) => starts === 'strided' && page === null) &&
    [lengthsQ, lengthsKv].every(kind => kind === 'full') &&
    blockMask === null;
  if (!isPlain)
    throw new InvalidArgumentError(
      'problem',
      'must not have lengths, packed sequences, pages or a block mask, whose contents decide what is computed',
    );
  const own = forwardRole(forwardOf(problem));
  return tileRoles.filter(role => (isForward(role) ? role === own : gradientsOf(role, problem).length > 0));
}
