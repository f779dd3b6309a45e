import {
  type AttentionProblem,
  type BackwardProblem,
  type DType,
  type GradientName,
  type OperandDesc,
  TilewiseError,
} from '@tilewise/core';
import type { Plan } from '../api/plan/plan.ts';
import { planSdpaBackward } from '../api/plan/plan-backward.ts';
import { planSdpa } from '../api/plan/plan-forward.ts';
import { isForward, type TileRole } from '../attention/tiles/tile.ts';
import { unsuitedReason } from '../attention/tiles/tile-choice.ts';
import type { GpuContext } from '../runtime/context.ts';
import { createContext } from '../runtime/create-context.ts';
import { disagreement, type Sample, toleranceOf } from './agreement.ts';
import { type ClockKind, type Encode, type GpuClock, gpuClock, runsPerPass } from './gpu-clock.ts';
import { SyntheticTensors } from './synthetic-tensors.ts';
import { describedTile, type TileDescription } from './tile-description.ts';

/** The time that a plan took with a tile. */
export interface TileTiming {
  /** The kernel that ran with the tile. */
  readonly role: TileRole;
  /** The tile, as plain data for `tilesFrom`. */
  readonly tile: TileDescription;
  /**
   * Milliseconds of the plan that contains the kernel, the median of the rounds. The plans of backward
   * kernels include delta = rowsum(o∘dO).
   */
  readonly ms: number;
  /** The minimum duration of a round, in milliseconds. */
  readonly least: number;
  /** The number of rounds. */
  readonly rounds: number;
}

/** The forward problem of a forward or backward problem. */
export const forwardOf = (problem: AttentionProblem | BackwardProblem): AttentionProblem =>
  'forward' in problem ? problem.forward : problem;

/** The gradients of a problem that a kernel of the backward pass computes. */
export function gradientsOf(
  role: 'dq' | 'dkdv',
  problem: AttentionProblem | BackwardProblem,
): readonly GradientName[] {
  const own: readonly GradientName[] = role === 'dq' ? ['dq'] : ['dk', 'dv'];
  return 'forward' in problem ? problem.gradients.filter(name => own.includes(name)) : [];
}

/** A plan with a tile, which has been compiled and has run once. */
export interface Work {
  readonly role: TileRole;
  readonly tile: TileDescription;
  readonly encode: Encode;
  /** The number of runs in one pass that the clock can measure. */
  readonly count: number;
}

/** The smallest and the largest number of rounds. */
const [minRounds, maxRounds] = [3, 15];

/** Runs the plans of one problem with different tiles. */
export class TileBench {
  readonly #problem: AttentionProblem | BackwardProblem;
  readonly #contexts: GpuContext[];
  /** The context whose tensors the plans of all tiles share. */
  readonly #ctx: GpuContext;
  readonly #tolerance: number;
  readonly #synthetic: SyntheticTensors;
  /** The first work of each kernel, and its results. */
  readonly #first = new Map<TileRole, { readonly encode: Encode; readonly results: Sample }>();
  readonly #clock: GpuClock;

  private constructor(ctx: GpuContext, problem: AttentionProblem | BackwardProblem) {
    const { q, k, v, o } = forwardOf(problem);
    const { dO, dq, dk, dv } = 'forward' in problem ? problem : { dO: o, dq: q, dk: k, dv: v };
    const descs = Object.entries({ q, k, v, o, dO, dq, dk, dv });
    this.#problem = problem;
    this.#contexts = [ctx];
    this.#ctx = ctx;
    const dtypes = Object.fromEntries(descs.map(([name, { dtype }]) => [name, dtype]));
    this.#tolerance = Math.max(...Object.values<DType>(dtypes).map(toleranceOf));
    this.#synthetic = new SyntheticTensors(ctx, dtypes);
    this.#clock = gpuClock(ctx.device);
  }

  /** Makes a bench. For a backward problem, o and lse are computed first. */
  static async open({ device }: GpuContext, problem: AttentionProblem | BackwardProblem): Promise<TileBench> {
    const ctx = await createContext({ device, maxIdleBytes: 0 });
    const bench = new TileBench(ctx, problem);
    try {
      if ('forward' in problem) {
        const plan = planSdpa(ctx, problem.forward);
        await plan.warmUp();
        await bench.#clock.once(bench.#encodeOf(plan), 0);
      }
      await bench.#synthetic.settle();
      return bench;
    } catch (error) {
      bench.destroy();
      throw error;
    }
  }

  get clock(): ClockKind {
    return this.#clock.kind;
  }

  /** Prepares the work for a tile, or returns the reason why the tile cannot be timed. */
  async prepare(role: TileRole, tile: TileDescription): Promise<Work | string> {
    const { device, capabilities } = this.#ctx;
    const described = describedTile(tile);
    const forward = forwardOf(this.#problem);
    const reason =
      unsuitedReason(described, forward, this.#operandsOf(role)) ??
      described.unsupported(role, forward, capabilities);
    if (reason) return reason;
    const chosen = { [role]: described };
    const ctx = await createContext({ device, maxIdleBytes: 0, tiles: () => chosen });
    this.#contexts.push(ctx);
    const plan = this.#planOf(ctx, role);
    const failure = await plan.warmUp().catch((error: unknown) => {
      if (error instanceof TilewiseError && error.code === 'UNSUPPORTED') return error.message;
      throw error;
    });
    if (failure) return failure;
    const encode = this.#encodeOf(plan);
    await this.#synthetic.settle();
    const wrong = await this.#wrongResults(role, encode);
    if (wrong) return wrong;
    const ms = await this.#clock.once(encode, 1);
    return { role, tile, encode, count: runsPerPass(ms) };
  }

  /** Runs the work of a kernel. Returns how its results differ from those of the first tile, or null. */
  async #wrongResults(role: TileRole, encode: Encode): Promise<string | null> {
    const names = isForward(role) ? ['o'] : gradientsOf(role, this.#problem);
    for (const name of names) this.#synthetic.clear(name);
    await this.#clock.once(encode, 0);
    const read = await Promise.all(names.map(name => this.#synthetic.read(name)));
    const results: Sample = new Map(names.map((name, n) => [name, read[n]]));
    const first = this.#first.get(role);
    if (!first) {
      this.#first.set(role, { encode, results });
      return null;
    }
    // Kernels of the backward pass read o and lse, which must be the same for all tiles.
    if (isForward(role)) await this.#clock.once(first.encode, 0);
    return disagreement(first.results, results, this.#tolerance);
  }

  /** The operands that a kernel multiplies. */
  #operandsOf(role: TileRole): OperandDesc[] {
    const { q, k, v } = forwardOf(this.#problem);
    return !isForward(role) && 'forward' in this.#problem ? [q, k, v, this.#problem.dO] : [q, k, v];
  }

  /** Times all works in turn, round after round, until `isLate`. */
  async time(works: readonly Work[], isLate: () => boolean): Promise<TileTiming[]> {
    const times: number[][] = works.map(() => []);
    for (let round = 1; round <= maxRounds && (round <= minRounds || !isLate()); round++) {
      for (const [n, { encode, count }] of works.entries())
        times[n].push(await this.#clock.once(encode, round, count));
    }
    return works.map(({ role, tile }, n) => {
      const sorted = times[n].sort((a, b) => a - b);
      return { role, tile, ms: sorted[sorted.length >> 1], least: sorted[0], rounds: sorted.length };
    });
  }

  destroy(): void {
    this.#clock.destroy();
    for (const ctx of this.#contexts) ctx.destroy();
  }

  #planOf(ctx: GpuContext, role: TileRole): Plan {
    const problem = this.#problem;
    if (isForward(role) || !('forward' in problem)) return planSdpa(ctx, forwardOf(problem));
    return planSdpaBackward(ctx, { ...problem, gradients: gradientsOf(role, problem) });
  }

  #encodeOf(plan: Plan): Encode {
    const buffers = this.#synthetic.of(plan.tensors);
    if (plan.workspaceBytes > 0)
      buffers.workspace = this.#ctx.allocate([plan.workspaceBytes / 4], 'u32').buffer;
    return pass => plan.encode(pass, buffers);
  }
}
