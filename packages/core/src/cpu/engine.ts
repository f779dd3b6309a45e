import { createCallMemo } from '../attention/call-memo.ts';
import { normaliseBackwardOnHost, normaliseOnHost } from '../attention/normalise-on-host.ts';
import type { AttentionProblem, BackwardProblem, Operands } from '../attention/problem/problem.ts';
import { checkProblem } from '../attention/rules/problem-schema.ts';
import { hostEngine } from '../engine/host-engine.ts';
import {
  checkOneOf,
  checkOptions,
  describeValue,
  InvalidArgumentError,
  UnsupportedError,
} from '../errors.ts';
import type { TensorEngine } from '../primitive/primitive-engine.ts';
import { checkHostTensor } from '../tensor/checks/check-on-host.ts';
import { checkStorage } from '../tensor/checks/check-storage.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { backward } from './attention/backward/backward.ts';
import { forward } from './attention/forward/forward.ts';
import {
  preparedBackward,
  preparedForward,
  type RunBackward,
  type RunForward,
} from './attention/prepared-attention.ts';
import { createBindHeads } from './attention/small-heads/bind-heads.ts';
import { hasSmallHeadGradients, smallHeadPlan } from './attention/small-heads/plan.ts';
import { shareHeads } from './attention/small-heads/share-heads.ts';
import { createSmallHeads, type SmallHeads } from './attention/small-heads/small-heads.ts';
import { forwardSize, sharedBackward } from './attention/tasks.ts';
import { compileEngineKernels, engineKernels } from './kernels/engine-kernels.ts';
import { bestVariant, kernelModules, supportedVariants } from './kernels/host-kernels.ts';
import type { Kernels } from './kernels/interface/kernels.ts';
import { type Variant, variantDescriptions, variants } from './kernels/interface/variant.ts';
import {
  fromResident,
  overwriteResident,
  releaseResident,
  toResident,
} from './kernels/memory/resident-tensors.ts';
import { MOST_THREADS } from './kernels/wasm/wasm-kernels.ts';
import { cpuPrimitives } from './primitives/cpu-primitives.ts';
import { gradientsOf, sdpa, sdpaBackward } from './sdpa.ts';
import { createTeam } from './team/team.ts';
import { canShareMemory, hostThreads } from './threads/host-threads.ts';
import { createPool, type Pool, WorkerFailure } from './threads/pool.ts';
import { copyPart, moved } from './threads/shared/shared-tensors.ts';
import { type TakenOperands, takeOperands } from './threads/shared/taken-operands.ts';
import { backwardOnThreads, forwardOnThreads, type OwnKernels } from './threads/threaded.ts';

/**
 * Options of the CPU engine. Results do not depend on `threads`, and depend on `variant` only by rounding.
 */
export interface CpuEngineOptions {
  /**
   * The threads that share a large problem, 1 to 64; default: one per core, at most 16. With 1, or if threads
   * cannot share memory, everything runs on the calling thread.
   */
  readonly threads?: number | undefined;
  /** The variant of the kernels; default: the fastest whose instructions this host supports. */
  readonly variant?: Variant | undefined;
}

/** Multiplications and additions below which waking threads takes longer than they save. */
const WORTH_THREADS = 3e7;

/** Where the attention of a caller may run besides the workers. */
interface Caller {
  readonly own: OwnKernels | null;
  readonly smallHeads: SmallHeads;
}

/**
 * The CPU as an engine, which runs every valid problem. Its tensors are host tensors. Tensors that it uploads
 * or allocates are stored in the memory of its kernels, which is shared memory. They live as long as the
 * tensor, a view of it or its `data` is referenced, or until they are released. Results of `download` and of
 * attention are stored in ordinary buffers. Large problems are divided among worker threads if the host has
 * them (Node, and pages that are cross-origin isolated); the workers start with the first such problem and do
 * not keep a process alive.
 *
 * Attention reads its inputs when it is called: once the call has returned its promise, they may be
 * overwritten or transferred without changing the result. The exception is storage in a SharedArrayBuffer,
 * which is not copied: do not change it until the promise has settled. A call rejects with
 * InvalidArgumentError if the buffer of an input has already been transferred.
 *
 * @throws InvalidArgumentError if `threads` is not a whole number from 1 to 64, or if `variant` or an option
 * is unknown; UnsupportedError if this host lacks the instructions of `variant`.
 */
export function cpuEngine(options: CpuEngineOptions = {}): TensorEngine<Tensor> {
  checkOptions('options', options, ['threads', 'variant']);
  const variant = checkVariant(options.variant);
  const threads = checkThreads(options.threads);
  const count = threads === 1 ? 'one thread' : `up to ${threads} threads`;
  /** Null if workers cannot be used; undefined before the first problem that is large enough for them. */
  let pool: Pool | null | undefined;
  let starting: Promise<Pool | null> | null = null;
  const team = threads === 1 ? null : createTeam(workersNow);
  const bindHeads = createBindHeads(variant, team);
  const forwardCalls = createCallMemo<AttentionProblem>();
  const backwardCalls = createCallMemo<BackwardProblem>();

  /**
   * The workers if they have started, for a step that cannot wait for them; starts them at the first call.
   */
  function workersNow(): Pool | null {
    // A failed start is reported to the call that waits for it.
    if (pool === undefined) startedPool().catch(() => null);
    return pool ?? null;
  }

  async function startedPool(): Promise<Pool | null> {
    starting ??= compileEngineKernels(variant).then(() => startPool(threads, variant, () => team?.disband()));
    const started = await starting;
    // The pool may have been given up in the meantime.
    if (pool === undefined) pool = started;
    return pool;
  }

  /**
   * Runs on threads if they work, and otherwise on this thread, because a page may forbid workers, or a
   * worker may run out of memory. Before it returns, the operands have been read or copied.
   */
  async function run<O extends Operands<Tensor>, R>(
    multiplications: number,
    problem: AttentionProblem,
    operands: O,
    into: object,
    onThreads: (pool: Pool, taken: TakenOperands<O>) => Promise<R>,
    onKernels: (operands: O, kernels: Kernels) => R,
  ): Promise<R> {
    const here = (given: O): R => {
      checkStorage(into);
      return engineKernels.withKernels(variant, kernels => onKernels(given, kernels));
    };
    if (threads === 1 || multiplications < WORTH_THREADS || pool === null) {
      if (variant === 'typescript' || kernelModules.get(variant)) return here(operands);
      const { tensors, copies } = moved(operands, bytes => new ArrayBuffer(bytes));
      for (const copy of copies) copyPart(copy, 0, 1);
      await compileEngineKernels(variant);
      return here(tensors);
    }
    const taken = takeOperands(problem, operands);
    if (!pool) {
      taken.arrive();
      await startedPool();
    }
    const workers = pool;
    if (workers) {
      try {
        return await onThreads(workers, taken);
      } catch (error) {
        if (!(error instanceof WorkerFailure)) throw error;
        workers.terminate();
        pool = null;
      }
    }
    return here(taken.operands);
  }

  /**
   * How direct calls and graphs run attention. A direct call must not block its thread until workers are
   * done, so it does not share small heads with the team; large problems run on the workers, in tiles. The
   * thread of a graph computes too, on its `own` kernels.
   */
  const direct: Caller = { own: null, smallHeads: createSmallHeads(shareHeads(null)) };
  const graph: Caller = {
    own: work => engineKernels.withKernels(variant, work),
    smallHeads: createSmallHeads(shareHeads(team)),
  };
  /** Whether the thread of a graph shares small heads with the team, whatever their number. */
  const sharesHeads = ({ own }: Caller): boolean => own !== null && variant !== 'typescript';

  const runForward =
    (caller: Caller): RunForward =>
    (problem, given, into = {}) =>
      run(
        sharesHeads(caller) && smallHeadPlan(problem) ? 0 : forwardSize(problem),
        problem,
        given,
        into,
        (workers, taken) => forwardOnThreads(problem, taken, workers, { into, own: caller.own }),
        (operands, kernels) => forward(problem, operands, { kernels, smallHeads: caller.smallHeads }, into),
      );

  const runBackward =
    (caller: Caller): RunBackward =>
    (problem, given, places = {}) =>
      run(
        sharesHeads(caller) && hasSmallHeadGradients(problem) ? 0 : sharedBackward(problem),
        problem.forward,
        given,
        places.into ?? {},
        (workers, taken) =>
          backwardOnThreads(problem, taken, workers, { into: places.into, own: caller.own }),
        (operands, kernels) =>
          backward(problem, operands, { kernels, smallHeads: caller.smallHeads }, places),
      );

  return {
    ...hostEngine('cpu', `tiled flash attention in ${variantDescriptions[variant]}, ${count}`, {
      sdpa,
      sdpaBackward,
    }),
    primitives: cpuPrimitives(variant, team),
    upload(tensor) {
      checkHostTensor('tensor', tensor);
      return toResident(variant, tensor);
    },
    overwrite(tensor, from) {
      checkHostTensor('from', from);
      return overwriteResident(variant, tensor, from);
    },
    async download(tensor) {
      checkHostTensor('tensor', tensor);
      const copy = fromResident(variant, tensor);
      // Workers start on the event loop, which a caller that awaits only results of this engine never
      // reaches.
      if (starting && pool === undefined) await startedPool().catch(() => null);
      return copy;
    },
    release(tensor) {
      checkHostTensor('tensor', tensor);
      releaseResident(tensor);
    },
    async sdpa(q, k, v, callOptions) {
      const inputs = { q, k, v };
      const { problem, operands } = forwardCalls.get(inputs, callOptions, () =>
        normaliseOnHost(inputs, callOptions),
      );
      return runForward(direct)(problem, operands);
    },
    async sdpaBackward(inputs, callOptions) {
      const { problem, operands } = backwardCalls.get(inputs, callOptions, () =>
        normaliseBackwardOnHost(inputs, callOptions),
      );
      return gradientsOf(await runBackward(direct)(problem, operands));
    },
    prepareAttention(problem) {
      checkProblem(problem);
      return 'forward' in problem
        ? preparedBackward(problem, runBackward(graph), bindHeads.backward)
        : preparedForward(problem, runForward(graph), bindHeads.forward);
    },
  };
}

/** Null if the package has no script for workers, or if they cannot be started. */
async function startPool(threads: number, variant: Variant, beforePass: () => void): Promise<Pool | null> {
  // Loaded on demand, because it is as large as the engine.
  const { workerSource } = await import('./threads/worker-source.ts');
  if (workerSource === null) return null;
  try {
    const setUp = { kind: 'set-up', variant, module: kernelModules.get(variant) } as const;
    return createPool(threads, workerSource, setUp, beforePass);
  } catch {
    return null;
  }
}

function checkVariant(variant: Variant = bestVariant()): Variant {
  checkOneOf('variant', variant, variants);
  if (!supportedVariants().includes(variant)) {
    throw new UnsupportedError('cpu', [
      `this host lacks the instructions of ${variant}, or its content security policy forbids WebAssembly`,
    ]);
  }
  return variant;
}

function checkThreads(threads: number = hostThreads()): number {
  if (!Number.isSafeInteger(threads) || threads < 1 || threads > MOST_THREADS) {
    const rule = `must be a whole number from 1 to ${MOST_THREADS}, got ${describeValue(threads)}`;
    throw new InvalidArgumentError('threads', rule);
  }
  return canShareMemory() ? threads : 1;
}
