import { fp8AmaxNames, fp8ScalarNames } from '../../attention/problem/fp8.ts';
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
import { copyStrided } from '../../tensor/copy-strided.ts';
import { contiguousStrides, elementsSpanned } from '../../tensor/shape.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { partOf } from '../kernels/memory/resident-tensors.ts';
import {
  type AllocateBytes,
  type BackwardResults,
  type BackwardTargets,
  sumBytes,
} from './backward/backward.ts';
import { createCheckTensors } from './check-tensors.ts';
import type { ForwardResults } from './forward/forward-results.ts';

type Tensors = Readonly<Record<string, Tensor>>;

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

/**
 * Converts tensors by the names of plan bindings to operands, in which the tensors that mods capture form one
 * record, those of the option `mxfp8` another, and the scalars of `fp8` a third.
 */
function operandsOf({ fp8, ...tensors }: Tensors): Operands<Tensor> {
  const records = { captures: {} as Record<string, Tensor>, mxfp8: {} as Record<string, Tensor> };
  const operands: Record<string, Tensor> = {};
  for (const [name, tensor] of Object.entries(tensors)) {
    const record = (['captures', 'mxfp8'] as const).find(prefix => name.startsWith(`${prefix}.`));
    if (record) records[record][name.slice(record.length + 1)] = tensor;
    else if (!name.startsWith('outputs.') && !name.startsWith('dCaptures.')) operands[name] = tensor;
  }
  const scalars = fp8 && fp8ScalarNames.map((name, n) => [name, elementOf(fp8, n)] as const);
  return {
    ...(operands as unknown as Operands<Tensor>),
    ...Object.fromEntries(Object.entries(records).filter(([, record]) => Object.keys(record).length > 0)),
    ...(scalars && { fp8: Object.fromEntries(scalars) as NonNullable<Operands<Tensor>['fp8']> }),
  };
}

/** Element n of a dense list, as a list of one. */
function elementOf({ data, offset, dtype }: Tensor, n: number): Tensor {
  return Tensor.wrap(partOf(data, offset + n, offset + n + 1), { dtype, shape: [1] });
}

/**
 * Copies results to the tensors that were given for them, unless they are stored there already; largest
 * magnitudes go to the list of `fp8`.
 */
function deliver(results: Readonly<Partial<Record<string, Tensor>>>, tensors: Tensors): void {
  const largest = (name: string): number => (fp8AmaxNames as readonly string[]).indexOf(name);
  const targets = Object.keys(results).map(name => (largest(name) < 0 ? name : 'fp8'));
  checkStorage(Object.fromEntries(targets.map(name => [name, tensors[name]])));
  for (const [name, result] of Object.entries(results)) {
    if (!result) continue;
    const n = largest(name);
    const to = n < 0 ? tensors[name] : elementOf(tensors.fp8, fp8ScalarNames.length + n);
    if (!to || to.data.buffer === result.data.buffer) continue;
    const { data, offset } = result;
    copyStrided(to.shape, { data, offset, strides: contiguousStrides(to.shape) }, to);
  }
}

/** Views of tensors, because a graph writes results to the same tensors in every run. */
const views = /* @__PURE__ */ new WeakMap<Tensor, Tensor>();

/** A view of a tensor whose storage starts with its first element. */
function inPlace(tensor: Tensor): Tensor {
  const known = views.get(tensor);
  if (known) return known;
  const { data, offset, dtype, shape, strides } = tensor;
  const own = partOf(data, offset, offset + elementsSpanned({ shape, strides }));
  const view = Tensor.wrap(own, { dtype, shape, strides });
  views.set(tensor, view);
  return view;
}

/**
 * Zeroes the results that have gaps if a pass may leave rows of them unwritten. The pass itself zeroes
 * results without gaps.
 */
function zeroUnwritten(
  { lengthsQ, lengthsKv, Sq }: AttentionProblem,
  results: Readonly<Partial<Record<string, Tensor>>>,
): void {
  if (lengthsQ === 'full' && lengthsKv === 'full' && Sq > 0) return;
  for (const result of Object.values(results)) {
    if (!result || result.isContiguous) continue;
    const strides = result.shape.map(() => 0);
    copyStrided(result.shape, { data: new Float32Array(1), offset: 0, strides }, result);
  }
}

function mapped<K extends string>(
  tensors: Readonly<Record<K, Tensor>>,
  f: (tensor: Tensor) => Tensor,
): Readonly<Record<K, Tensor>>;
function mapped<K extends string>(
  tensors: Readonly<Partial<Record<K, Tensor>>>,
  f: (tensor: Tensor) => Tensor,
): Readonly<Partial<Record<K, Tensor>>>;
function mapped<K extends string>(
  tensors: Readonly<Partial<Record<K, Tensor>>>,
  f: (tensor: Tensor) => Tensor,
): Readonly<Partial<Record<K, Tensor>>> {
  const given: Partial<Record<K, Tensor>> = {};
  for (const name of Object.keys(tensors) as K[]) {
    const tensor = tensors[name];
    if (tensor) given[name] = f(tensor);
  }
  return given;
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
