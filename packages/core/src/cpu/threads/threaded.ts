import type { BackwardOperands } from '../../attention/normalise.ts';
import type { AttentionProblem, BackwardProblem, Operands } from '../../attention/problem.ts';
import type { SdpaResult } from '../../engine/engine.ts';
import { checkStorage } from '../../tensor/check-storage.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { allocateBackward, type BackwardPlaces, type BackwardResults, finishBackward } from '../backward.ts';
import { allocateForward, type ForwardResults, forwardResult } from '../forward.ts';
import { withKernels } from '../kernels/host-kernels.ts';
import type { Variant } from '../kernels/kernels.ts';
import type { TileSize } from '../tile-size.ts';
import { type Amax, joinAmax } from './amax.ts';
import type { Reply } from './message.ts';
import type { Pool } from './pool.ts';
import { allocateShared, send, unshared, zeros } from './shared-tensors.ts';
import type { TakenOperands } from './taken-operands.ts';

const claims = (): Int32Array => new Int32Array(new SharedArrayBuffer(4));

/**
 * What `forward` gives, by the workers of a pool. The operands have arrived when this returns its promise, and are no longer there when it
 * resolves.
 * @throws WorkerFailure; InvalidArgumentError when a tensor of `into` has lost its storage meanwhile.
 */
export async function forwardOnThreads(
  problem: AttentionProblem,
  taken: TakenOperands<Operands<Tensor>>,
  pool: Pool,
  tiles?: TileSize,
  into: Partial<ForwardResults> = {},
): Promise<SdpaResult<Tensor>> {
  const { operands, arrivals, buffers } = taken;
  const results = allocateForward(problem, allocateShared(buffers));
  const passing = pool.run({
    kind: 'forward',
    problem,
    operands: send(operands),
    results: send(results),
    ...{ tiles, threads: pool.threads, claimed: claims(), arrivals },
  });
  taken.arrive();
  const replies = await passing;
  try {
    checkStorage(into);
    const own = {
      o: unshared(results.o, into.o),
      lse: unshared(results.lse, into.lse),
      max: unshared(results.max, into.max),
      sumExp: unshared(results.sumExp, into.sumExp),
    };
    return forwardResult(problem, operands, own, { amaxS: 0, amaxO: 0, ...amaxOf(replies) });
  } finally {
    buffers.release();
  }
}

/** What `backward` gives, by the workers of a pool, as `forwardOnThreads`; not where a gradient is a sum over several tasks. */
export async function backwardOnThreads(
  problem: BackwardProblem,
  taken: TakenOperands<BackwardOperands<Tensor>>,
  pool: Pool,
  variant: Variant,
  tiles?: TileSize,
  into: BackwardPlaces['into'] = {},
): Promise<BackwardResults> {
  const { operands, arrivals, buffers } = taken;
  const allocateBytes = (bytes: number) => new Uint8Array(zeros(buffers.take(bytes)));
  const sums = allocateBackward(problem, { tiles }, allocateShared(buffers), allocateBytes);
  const passing = pool.run({
    kind: 'backward',
    problem,
    operands: send(operands),
    results: send(sums),
    ...{ tiles, threads: pool.threads, claimed: claims(), arrivals },
  });
  taken.arrive();
  const replies = await passing;
  try {
    checkStorage(into);
    const own = {
      ...sums,
      dq: unshared(sums.dq, into.dq),
      dk: unshared(sums.dk, into.dk),
      dv: unshared(sums.dv, into.dv),
    };
    const extras = { dCaptures: null, amax: amaxOf(replies) };
    return withKernels(variant, kernels =>
      finishBackward(problem, operands, { kernels, tiles }, own, extras, into),
    );
  } finally {
    buffers.release();
  }
}

function amaxOf(replies: readonly Reply[]): Amax {
  return joinAmax(replies.map(({ amax }) => amax ?? {}));
}
