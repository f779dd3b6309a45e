import type { BackwardOperands } from '../../attention/normalise.ts';
import type { AttentionProblem, BackwardProblem, Operands } from '../../attention/problem.ts';
import type { SdpaResult } from '../../engine/engine.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { allocateBackward, type BackwardPlaces, type BackwardResults, finishBackward } from '../backward.ts';
import { allocateForward, type ForwardResults, forwardResult } from '../forward.ts';
import { withKernels } from '../kernels/host-kernels.ts';
import type { Variant } from '../kernels/kernels.ts';
import type { TileSize } from '../tile-size.ts';
import { type Amax, joinAmax } from './amax.ts';
import type { Reply } from './message.ts';
import type { Pool } from './pool.ts';
import { type SharedBuffers, sharedBuffers } from './shared-buffers.ts';
import { allocateShared, send, unshared, zeros } from './shared-tensors.ts';
import { createStartSignal, giveStartSignal } from './start-signal.ts';

const claims = (): Int32Array => new Int32Array(new SharedArrayBuffer(4));

/** Operands that workers are told of first and that are copied then, while the workers wake up; the signal says when they are there. */
function onTheWay<R>(operands: R, buffers: SharedBuffers) {
  const { parcel, copy } = send(operands, buffers);
  const start = createStartSignal();
  const told = (): void => {
    copy();
    giveStartSignal(start);
  };
  return { operands: parcel, start, told };
}

/** What `forward` gives, by the workers of a pool. */
export async function forwardOnThreads(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  pool: Pool,
  tiles?: TileSize,
  into: Partial<ForwardResults> = {},
): Promise<SdpaResult<Tensor>> {
  const buffers = sharedBuffers();
  const results = allocateForward(problem, allocateShared(buffers));
  const { told, ...sent } = onTheWay(operands, buffers);
  const replies = await pool.run(
    {
      kind: 'forward',
      problem,
      results: send(results, buffers).parcel,
      ...sent,
      ...{ tiles, threads: pool.threads, claimed: claims() },
    },
    told,
  );
  const own = {
    o: unshared(results.o, into.o),
    lse: unshared(results.lse, into.lse),
    max: unshared(results.max, into.max),
    sumExp: unshared(results.sumExp, into.sumExp),
  };
  buffers.release();
  return forwardResult(problem, operands, own, { amaxS: 0, amaxO: 0, ...amaxOf(replies) });
}

/** What `backward` gives, by the workers of a pool; not where a gradient is a sum over several tasks. */
export async function backwardOnThreads(
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  pool: Pool,
  variant: Variant,
  tiles?: TileSize,
  into: BackwardPlaces['into'] = {},
): Promise<BackwardResults> {
  const buffers = sharedBuffers();
  const allocateBytes = (bytes: number) => new Uint8Array(zeros(buffers.take(bytes)));
  const sums = allocateBackward(problem, { tiles }, allocateShared(buffers), allocateBytes);
  const { told, ...sent } = onTheWay(operands, buffers);
  const replies = await pool.run(
    {
      kind: 'backward',
      problem,
      results: send(sums, buffers).parcel,
      ...sent,
      ...{ tiles, threads: pool.threads, claimed: claims() },
    },
    told,
  );
  const own = {
    ...sums,
    dq: unshared(sums.dq, into.dq),
    dk: unshared(sums.dk, into.dk),
    dv: unshared(sums.dv, into.dv),
  };
  const extras = { dCaptures: null, amax: amaxOf(replies) };
  const finished = withKernels(variant, kernels =>
    finishBackward(problem, operands, { kernels, tiles }, own, extras, into),
  );
  buffers.release();
  return finished;
}

function amaxOf(replies: readonly Reply[]): Amax {
  return joinAmax(replies.map(({ amax }) => amax ?? {}));
}
