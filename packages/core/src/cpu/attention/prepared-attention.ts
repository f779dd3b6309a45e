import type {
  AttentionProblem,
  BackwardOperands,
  BackwardProblem,
  Operands,
} from '../../attention/problem/problem.ts';
import type { SdpaResult } from '../../engine/engine.ts';
import type { BoundWork } from '../../primitive/bound-work.ts';
import type { AttentionRun, PreparedAttention } from '../../primitive/prepared-attention.ts';
import { checkStorage } from '../../tensor/checks/check-storage.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import {
  type AllocateBytes,
  type BackwardResults,
  type BackwardTargets,
  sumBytes,
} from './backward/backward.ts';
import { createCheckTensors } from './check-tensors.ts';
import type { ForwardResults } from './forward/forward-results.ts';
import { deliver, inPlace, mapped, operandsOf, zeroUnwritten } from './plan-tensors.ts';

/** Runs a forward pass, at once if it can; writes results to the tensors that `into` has. */
export type RunForward = (
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  into?: Partial<ForwardResults>,
) => SdpaResult<Tensor> | Promise<SdpaResult<Tensor>>;

/** Runs a backward pass in the same way. */
export type RunBackward = (
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  targets?: BackwardTargets,
) => BackwardResults | Promise<BackwardResults>;

/** Binds forward attention to tensors; null if that saves nothing. */
type BindForward = (
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  results: Readonly<Record<'o' | 'lse', Tensor>>,
) => BoundWork | null;

/** Binds backward attention in the same way. */
type BindBackward = (
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  gradients: Readonly<Record<'dq' | 'dk' | 'dv', Tensor>>,
) => BoundWork | null;

/** Forward attention that writes to the tensors that each run gets. */
export function preparedForward(
  problem: AttentionProblem,
  run: RunForward,
  bind: BindForward,
): PreparedAttention<Tensor> {
  const checkTensors = createCheckTensors(problem);
  return {
    workspaceBytes: 0,
    bind(tensors, numbers = {}) {
      checkTensors(tensors);
      const { o, lse, ...operands } = tensors;
      return bind(withNumbers(problem, numbers), operandsOf(operands), mapped({ o, lse }, inPlace));
    },
    async run(tensors, numbers = {}) {
      checkTensors(tensors);
      checkStorage(tensors);
      const { o, lse, max, sumExp, ...operands } = tensors;
      const into = mapped({ o, lse, max, sumExp }, inPlace);
      zeroUnwritten(problem, into);
      const results = await run(withNumbers(problem, numbers), operandsOf(operands), into);
      const { dropoutMask, ...others } = results;
      deliver({ ...others, ...(dropoutMask && { 'outputs.dropoutMask': dropoutMask }) }, tensors);
    },
    release() {},
  };
}

/**
 * Backward attention that writes to the tensors that each run gets, and accumulates sums in the workspace.
 */
export function preparedBackward(
  problem: BackwardProblem,
  run: RunBackward,
  bind: BindBackward,
): PreparedAttention<Tensor> {
  const sums = Object.values(sumBytes(problem));
  const checkTensors = createCheckTensors(problem);
  return {
    workspaceBytes: sums.reduce<number>((sum, bytes) => sum + roomFor(bytes ?? 0), 0),
    bind(tensors, numbers = {}) {
      checkTensors(tensors);
      const { dq, dk, dv, ...operands } = tensors;
      const forward = withNumbers(problem.forward, numbers);
      const given = operandsOf(operands) as BackwardOperands<Tensor>;
      return bind({ ...problem, forward }, given, mapped({ dq, dk, dv }, inPlace));
    },
    async run(tensors, numbers = {}) {
      checkTensors(tensors);
      checkStorage({ ...tensors, workspace: numbers.workspace });
      const { dq, dk, dv, dbias, dsink, dAlibi, ...operands } = tensors;
      const allocateBytes = numbers.workspace && withinWorkspace(numbers.workspace);
      const forward = withNumbers(problem.forward, numbers);
      const into = mapped({ dq, dk, dv, dbias }, inPlace);
      zeroUnwritten(forward, into);
      const { gradients, dCaptures } = await run(
        { ...problem, forward },
        operandsOf(operands) as BackwardOperands<Tensor>,
        { into, ...(allocateBytes && { allocateBytes }) },
      );
      const ofCaptures = Object.entries(dCaptures ?? {}).map(
        ([name, t]) => [`dCaptures.${name}`, t] as const,
      );
      deliver({ ...gradients, ...Object.fromEntries(ofCaptures) }, tensors);
    },
    release() {},
  };
}

/**
 * A problem with the numbers of one run. Returns the given problem if the numbers do not change it, because
 * plans are cached by problem.
 */
function withNumbers(
  problem: AttentionProblem,
  { seed, offset, scale = problem.scale }: AttentionRun<Tensor>,
): AttentionProblem {
  const { dropout } = problem;
  if (dropout?.kind !== 'philox') return scale === problem.scale ? problem : { ...problem, scale };
  return {
    ...problem,
    scale,
    dropout: { ...dropout, seed: seed ?? dropout.seed, offset: offset ?? dropout.offset },
  };
}

/** The bytes that a block takes in a workspace. */
function roomFor(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

/** Allocates blocks one after the other in a workspace. */
function withinWorkspace({ data: { buffer, byteOffset } }: Tensor): AllocateBytes {
  let at = byteOffset;
  return bytes => {
    const memory = new Uint8Array(buffer, at, bytes).fill(0);
    at += roomFor(bytes);
    return memory;
  };
}
