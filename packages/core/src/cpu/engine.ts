import { createCallMemo } from '../attention/call/call-memo.ts';
import { normaliseBackwardOnHost, normaliseOnHost } from '../attention/call/normalise-on-host.ts';
import type { AttentionProblem, BackwardProblem } from '../attention/problem/problem.ts';
import { checkProblem } from '../attention/rules/check-problem.ts';
import { hostEngine } from '../primitive/host/host-engine.ts';
import type { TensorEngine } from '../primitive/primitive-engine.ts';
import { checkHostTensor } from '../tensor/checks/check-on-host.ts';
import { checkTensorStorage } from '../tensor/checks/check-storage.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { createBindAttention } from './attention/bind-attention.ts';
import { preparedBackward, preparedForward } from './attention/prepared-attention.ts';
import { shareHeads } from './attention/small-heads/share-heads.ts';
import { createSmallHeads } from './attention/small-heads/small-heads.ts';
import { type CpuEngineOptions, checkedOptions } from './engine-options.ts';
import { engineKernels } from './kernels/engine-kernels.ts';
import {
  fromResident,
  overwriteResident,
  releaseResident,
  toResident,
} from './kernels/memory/resident-tensors.ts';
import { variantDescriptions } from './kernels/variant.ts';
import { cpuPrimitives } from './primitives/cpu-primitives.ts';
import { gradientsOf, sdpa, sdpaBackward } from './sdpa.ts';
import { createTeam, type Team } from './team/team.ts';
import { createAttention } from './threads/run-attention.ts';
import { createWorkers } from './threads/workers.ts';

/**
 * The CPU as an engine, which runs every valid problem. Its tensors are host tensors. Tensors that it uploads
 * or allocates are stored in the memory of its kernels, which is shared memory. They live as long as the
 * tensor, a view of it or its `data` is referenced, or until they are released, after which the tensor and
 * its views are refused. Results of `download` and of attention are stored in ordinary buffers. Large
 * problems are divided among worker threads if the host has them (Node, and pages that are cross-origin
 * isolated); the workers start with the first such problem and do not keep a process alive.
 *
 * Attention reads its inputs when it is called: once the call has returned its promise, they may be
 * overwritten, transferred or released without changing the result. The exception is storage in shared
 * memory, also that of an uploaded tensor, which is not copied: do not write to it until the promise has
 * settled. `overwrite` returns false for a tensor that is being read. A call rejects with
 * InvalidArgumentError if an input has been released before, or its buffer transferred.
 *
 * @throws InvalidArgumentError if `threads` is not a whole number from 1 to 64, or if `variant` or an option
 * is unknown; UnsupportedError if this host lacks the instructions of `variant`.
 */
export function cpuEngine(options: CpuEngineOptions = {}): TensorEngine<Tensor> {
  const { variant, threads } = checkedOptions(options);
  const count = threads === 1 ? 'one thread' : `up to ${threads} threads`;
  const workers = threads === 1 ? null : createWorkers(threads, variant, () => team?.disband());
  const team: Team | null = workers && createTeam(workers.now);
  const bind = createBindAttention(variant, team);
  const forwardCalls = createCallMemo<AttentionProblem>();
  const backwardCalls = createCallMemo<BackwardProblem>();
  // A direct call must not block its thread until workers are done, so it does not share small heads with the
  // team; large problems run on the workers, in tiles. The thread of a graph computes too, on its own
  // kernels.
  const direct = createAttention({
    ...{ variant, workers, own: null },
    smallHeads: createSmallHeads(shareHeads(null)),
  });
  const graph = createAttention({
    ...{ variant, workers, own: work => engineKernels.withKernels(variant, work) },
    smallHeads: createSmallHeads(shareHeads(team)),
  });

  return {
    ...hostEngine('cpu', `tiled flash attention in ${variantDescriptions[variant]}, ${count}`, {
      sdpa,
      sdpaBackward,
    }),
    primitives: cpuPrimitives(variant, team),
    upload(tensor) {
      checkHostTensor('tensor', tensor);
      checkTensorStorage('tensor', tensor);
      return toResident(variant, tensor);
    },
    overwrite(tensor, from) {
      checkHostTensor('from', from);
      checkTensorStorage('from', from);
      return overwriteResident(variant, tensor, from);
    },
    async download(tensor) {
      checkHostTensor('tensor', tensor);
      checkTensorStorage('tensor', tensor);
      const copy = fromResident(variant, tensor);
      // Workers start on the event loop, which a caller that awaits only results of this engine never
      // reaches.
      await workers?.settled();
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
      return direct.forward(problem, operands);
    },
    async sdpaBackward(inputs, callOptions) {
      const { problem, operands } = backwardCalls.get(inputs, callOptions, () =>
        normaliseBackwardOnHost(inputs, callOptions),
      );
      return gradientsOf(await direct.backward(problem, operands));
    },
    prepareAttention(problem) {
      checkProblem(problem);
      return 'forward' in problem
        ? preparedBackward(problem, graph.backward, bind.backward)
        : preparedForward(problem, graph.forward, bind.forward);
    },
  };
}
