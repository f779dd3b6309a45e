import type { BackwardOperands } from '../../attention/normalise.ts';
import type { AttentionProblem, BackwardProblem, Operands } from '../../attention/problem.ts';
import type { SdpaResult } from '../../engine/engine.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { allocateBackward, type BackwardResults, finishBackward } from '../backward.ts';
import { allocateForward, forwardResult } from '../forward.ts';
import { withKernels } from '../kernels/host-kernels.ts';
import type { Variant } from '../kernels/kernels.ts';
import type { TileSize } from '../tile-size.ts';
import type { Pool } from './pool.ts';
import { sharedBuffers } from './shared-buffers.ts';
import { allocateShared, send, unshared, zeros } from './shared-tensors.ts';

const claims = (): Int32Array => new Int32Array(new SharedArrayBuffer(4));

/** What `forward` gives, by the workers of a pool; not for FP8 problems. */
export async function forwardOnThreads(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  pool: Pool,
  tiles?: TileSize,
): Promise<SdpaResult<Tensor>> {
  const buffers = sharedBuffers();
  const results = allocateForward(problem, allocateShared(buffers));
  await pool.run({
    kind: 'forward',
    problem,
    operands: send(operands, buffers),
    results: send(results, buffers),
    tiles,
    claimed: claims(),
  });
  const own = {
    o: unshared(results.o),
    lse: unshared(results.lse),
    max: unshared(results.max),
    sumExp: unshared(results.sumExp),
  };
  buffers.release();
  return forwardResult(problem, operands, own, { S: 0, O: 0 });
}

/** What `backward` gives, by the workers of a pool; not for problems whose gradients are summed over all tasks, nor for FP8. */
export async function backwardOnThreads(
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  pool: Pool,
  variant: Variant,
  tiles?: TileSize,
): Promise<BackwardResults> {
  const buffers = sharedBuffers();
  const allocateBytes = (bytes: number) => zeros(buffers.take(bytes));
  const sums = allocateBackward(problem, { tiles }, allocateShared(buffers), allocateBytes);
  await pool.run({
    kind: 'backward',
    problem,
    operands: send(operands, buffers),
    results: send(sums, buffers),
    tiles,
    claimed: claims(),
  });
  const own = { ...sums, dq: unshared(sums.dq), dk: unshared(sums.dk), dv: unshared(sums.dv) };
  const extras = { dbias: null, dAlibi: null, dCaptures: null };
  const finished = withKernels(variant, kernels =>
    finishBackward(problem, operands, { kernels, tiles }, own, extras),
  );
  buffers.release();
  return finished;
}
