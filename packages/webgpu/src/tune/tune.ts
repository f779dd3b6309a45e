import {
  type AttentionProblem,
  type BackwardProblem,
  type DType,
  type GradientName,
  InvalidArgumentError,
  TilewiseError,
  validate,
  validateBackward,
} from '@tilewise/core';
import { fewQueries } from '../attention/forward-shape.ts';
import type { Plan } from '../attention/plan.ts';
import { planSdpaBackward } from '../attention/plan-backward.ts';
import { planSdpa } from '../attention/plan-forward.ts';
import { tileReason } from '../attention/tile-choice.ts';
import { createContext, type GpuContext } from '../device/context.ts';
import { disagreement, type Sample } from './agreement.ts';
import { tileCandidates } from './candidates.ts';
import { type ClockKind, type Encode, type GpuClock, gpuClock } from './gpu-clock.ts';
import { StandIns } from './stand-ins.ts';
import {
  checkDescription,
  describedTile,
  type TileDescription,
  type TileDescriptions,
  type TileRole,
  tileRoles,
} from './tile-description.ts';

export interface TuneOptions {
  /** How long it may take, about. Half of it is for compiling, beyond which no further tile is tried. Default 20. */
  readonly seconds?: number;
  /** Tiles to time instead of those that this library thinks worth it; the first of a kernel is always timed, and has the right results. */
  readonly candidates?: { readonly [Role in TileRole]?: readonly TileDescription[] };
}

/** What tuning found. All of it is plain data. */
export interface Tuning {
  /** The fastest tile of each kernel, for `tilesFrom`. */
  readonly choice: TileDescriptions;
  /** Kernel by kernel, the fastest first. */
  readonly timings: readonly TileTiming[];
  readonly omitted: readonly OmittedTile[];
  readonly clock: ClockKind;
}

export interface TileTiming {
  readonly role: TileRole;
  readonly tile: TileDescription;
  /** Milliseconds of the plan that has the kernel: median and least of so many rounds. Backward's includes delta = rowsum(o∘dO). */
  readonly ms: number;
  readonly least: number;
  readonly rounds: number;
}

/** A tile that was not timed. */
export interface OmittedTile {
  readonly role: TileRole;
  readonly tile: TileDescription;
  readonly reason: string;
}

/**
 * Times tiles of the large kernels of a problem on the device of a context: of forward, and for a backward problem of dQ and dK/dV too. Tensors
 * that stand for the problem's are made for the time being, and given back. A tile on which results are others than on the first is left out. Rounds go through all tiles in turn, so that what else the
 * machine does slows all of them down alike.
 * @throws InvalidArgumentError for options out of range, and for a problem whose tiles are fixed (FP8; at most 16 queries, without
 * backward) or whose tensors decide what is computed (lengths, packed sequences, pages, block masks): tune the same without them.
 * Else as `planSdpa` and `planSdpaBackward`.
 */
export async function tune(
  ctx: GpuContext,
  problem: AttentionProblem | BackwardProblem,
  { seconds = 20, candidates = {} }: TuneOptions = {},
): Promise<Tuning> {
  ctx.checkAlive();
  const roles = checkedRoles(problem);
  if (!(seconds >= 0))
    throw new InvalidArgumentError('options.seconds', `must be at least 0, got ${seconds}`);
  const forward = forwardOf(problem);
  const entries = roles.flatMap(role => {
    const tiles = candidates[role] ?? tileCandidates(role, forward, ctx.capabilities);
    if (tiles.length === 0)
      throw new InvalidArgumentError(`options.candidates.${role}`, 'must hold a tile, got none');
    return tiles.map((tile, place) => ({ role, tile, place }));
  });
  for (const { role, tile, place } of entries)
    checkDescription(`options.candidates.${role}[${place}]`, role, tile);
  // All kernels' most likely tiles come first, in case that the time is too short for all.
  entries.sort((a, b) => a.place - b.place);

  const start = performance.now();
  const spent = (): number => (performance.now() - start) / 1000;
  const bench = await TileBench.open(ctx, problem);
  try {
    const works: Work[] = [];
    const omitted: OmittedTile[] = [];
    for (const { role, tile, place } of entries) {
      const made =
        place > 0 && spent() > seconds / 2 ? 'there was no time left' : await bench.prepare(role, tile);
      if (typeof made === 'string') omitted.push({ role, tile, reason: made });
      else works.push(made);
    }
    const times = await bench.time(works, () => spent() > seconds);
    ctx.checkAlive();
    const timings = roles.flatMap(role => times.filter(t => t.role === role).sort((a, b) => a.ms - b.ms));
    return { choice: fastest(timings), timings, omitted, clock: bench.clock };
  } finally {
    bench.destroy();
  }
}

const forwardOf = (problem: AttentionProblem | BackwardProblem): AttentionProblem =>
  'forward' in problem ? problem.forward : problem;

/** The gradients that a kernel of backward is for. */
const gradientsOf: Readonly<Record<Exclude<TileRole, 'forward'>, readonly GradientName[]>> = {
  dq: ['dq'],
  dkdv: ['dk', 'dv'],
};

/** The kernels of a problem whose tiles can be tuned. @throws as `tune`. */
function checkedRoles(problem: AttentionProblem | BackwardProblem): TileRole[] {
  if ('forward' in problem) validateBackward(problem);
  else validate(problem);
  const { Sq, fp8, q, k, v, o, lengthsQ, lengthsKv, blockMask } = forwardOf(problem);
  if (fp8)
    throw new InvalidArgumentError('problem', 'must not be of 8-bit arithmetic, whose tiles are fixed');
  const isPlain =
    [q, k, v, o].every(({ starts, page }) => starts === 'strided' && page === null) &&
    [lengthsQ, lengthsKv].every(kind => kind === 'full') &&
    blockMask === null;
  if (!isPlain)
    throw new InvalidArgumentError(
      'problem',
      'must be without lengths, packed sequences, pages and block mask, whose contents decide what is computed',
    );
  const wanted = 'forward' in problem ? problem.gradients : [];
  const roles = tileRoles.filter(role =>
    role === 'forward' ? Sq > fewQueries : gradientsOf[role].some(name => wanted.includes(name)),
  );
  if (roles.length === 0)
    throw new InvalidArgumentError(
      'problem',
      `must have more than ${fewQueries} queries, or gradients, got ${Sq}: forward of fewer has tiles of its own`,
    );
  return roles;
}

const fastest = (sorted: readonly TileTiming[]): TileDescriptions =>
  Object.fromEntries(
    tileRoles.flatMap(role => {
      const best = sorted.find(timing => timing.role === role);
      return best ? [[role, best.tile]] : [];
    }),
  );

/** A plan on a tile, compiled and run once. */
interface Work {
  readonly role: TileRole;
  readonly tile: TileDescription;
  readonly encode: Encode;
  /** Runs in one pass that the clock can see. */
  readonly count: number;
}

/** Rounds at least, and at most. */
const [leastRounds, mostRounds] = [3, 15];

/** Timestamps may be rounded to 100 µs, and a submission takes about as long: what is timed lasts much longer. */
const leastMs = 8;
const mostRuns = 256;

/** What plans of one problem on any tiles are run with. */
class TileBench {
  readonly #problem: AttentionProblem | BackwardProblem;
  readonly #contexts: GpuContext[];
  readonly #space: GpuContext;
  readonly #dtypes: Readonly<Record<string, DType>>;
  readonly #standIns: StandIns;
  /** Of each kernel: the first of its works, and what it gave. */
  readonly #first = new Map<TileRole, { readonly encode: Encode; readonly results: Sample }>();
  readonly #clock: GpuClock;

  private constructor(space: GpuContext, problem: AttentionProblem | BackwardProblem) {
    const { q, k, v, o } = forwardOf(problem);
    const { dO, dq, dk, dv } = 'forward' in problem ? problem : { dO: o, dq: q, dk: k, dv: v };
    const descs = Object.entries({ q, k, v, o, dO, dq, dk, dv });
    this.#problem = problem;
    this.#contexts = [space];
    this.#space = space;
    this.#dtypes = Object.fromEntries(descs.map(([name, { dtype }]) => [name, dtype]));
    this.#standIns = new StandIns(space, this.#dtypes);
    this.#clock = gpuClock(space.device);
  }

  /** For backward, o and lse are computed. */
  static async open({ device }: GpuContext, problem: AttentionProblem | BackwardProblem): Promise<TileBench> {
    const space = await createContext({ device, maxIdleBytes: 0 });
    const bench = new TileBench(space, problem);
    try {
      if ('forward' in problem) {
        const plan = planSdpa(space, problem.forward);
        await plan.warmUp();
        await bench.#clock.once(bench.#encodeOf(plan), 0);
      }
      await bench.#standIns.settle();
      return bench;
    } catch (error) {
      bench.destroy();
      throw error;
    }
  }

  get clock(): ClockKind {
    return this.#clock.kind;
  }

  /** The work of a tile, or why there is none. */
  async prepare(role: TileRole, tile: TileDescription): Promise<Work | string> {
    const { device, capabilities } = this.#space;
    const described = describedTile(tile);
    const reason = tileReason(role, described, forwardOf(this.#problem), capabilities);
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
    await this.#standIns.settle();
    const wrong = await this.#wrongResults(role, encode);
    if (wrong) return wrong;
    const ms = await this.#clock.once(encode, 1);
    return { role, tile, encode, count: Math.max(1, Math.min(mostRuns, Math.ceil(leastMs / ms))) };
  }

  /** Runs the work of a kernel, whose results must be those of the first tile. */
  async #wrongResults(role: TileRole, encode: Encode): Promise<string | null> {
    const names = this.#resultsOf(role);
    for (const name of names) this.#standIns.clear(name);
    await this.#clock.once(encode, 0);
    const read = await Promise.all(names.map(name => this.#standIns.read(name)));
    const results: Sample = new Map(names.map((name, n) => [name, read[n]]));
    const first = this.#first.get(role);
    if (!first) {
      this.#first.set(role, { encode, results });
      return null;
    }
    // Backward reads o and lse, which are the same for all of its tiles.
    if (role === 'forward') await this.#clock.once(first.encode, 0);
    return disagreement(first.results, results, this.#dtypes);
  }

  #resultsOf(role: TileRole): readonly string[] {
    if (role === 'forward') return ['o'];
    return 'forward' in this.#problem
      ? this.#problem.gradients.filter(name => gradientsOf[role].includes(name))
      : [];
  }

  /** Times all in turn, until it is late. */
  async time(works: readonly Work[], isLate: () => boolean): Promise<TileTiming[]> {
    const times: number[][] = works.map(() => []);
    for (let round = 1; round <= mostRounds && (round <= leastRounds || !isLate()); round++) {
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
    if (role === 'forward' || !('forward' in problem)) return planSdpa(ctx, forwardOf(problem));
    const gradients = problem.gradients.filter(name => gradientsOf[role].includes(name));
    return planSdpaBackward(ctx, { ...problem, gradients });
  }

  #encodeOf(plan: Plan): Encode {
    const buffers = this.#standIns.of(plan.tensors);
    if (plan.workspaceBytes > 0)
      buffers.workspace = this.#space.allocate([plan.workspaceBytes / 4], 'u32').buffer;
    return pass => plan.encode(pass, buffers);
  }
}
