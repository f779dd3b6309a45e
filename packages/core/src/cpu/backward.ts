import { createLengths } from '../attention/lengths.ts';
import type { BackwardOperands } from '../attention/normalise.ts';
import type { BackwardAmaxName, GradientName } from '../attention/options.ts';
import type { BackwardProblem } from '../attention/problem.ts';
import { elementCount } from '../tensor/shape.ts';
import { Tensor } from '../tensor/tensor.ts';
import { type BackwardExtras, type BackwardSums, runBackward } from './backward-pass.ts';
import { type Kernels, padded } from './kernels/kernels.ts';
import type { Machine } from './machine.ts';
import { type AllocateTensor, allocateRows, allocateTensor, createRowResult } from './results.ts';
import { tileSizeOf } from './tile-size.ts';
import { backwardWork, inOrder } from './work.ts';

/** Gradients and largest values by name, those that were asked for; and the gradients of the tensors that the score mod loads floats from. */
export interface BackwardResults {
  readonly gradients: Readonly<Partial<Record<GradientName | BackwardAmaxName, Tensor>>>;
  readonly dCaptures: Readonly<Record<string, Tensor>> | null;
}

/** The gradients of a problem. */
export function backward(
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  machine: Machine,
): BackwardResults {
  const sums = allocateBackward(problem, machine, allocateTensor, bytes => new ArrayBuffer(bytes));
  const extras = runBackward(problem, operands, machine, sums, inOrder());
  return finishBackward(problem, operands, machine, sums, extras);
}

/** Zeros for the tasks of a problem to write to. */
export function allocateBackward(
  problem: BackwardProblem,
  { tiles = tileSizeOf(problem.forward) }: Pick<Machine, 'tiles'>,
  allocate: AllocateTensor,
  allocateBytes: (bytes: number) => ArrayBufferLike,
): BackwardSums {
  const { gradients, forward } = problem;
  const { B, Hq, Sq, Dqk, bias } = forward;
  const doubles = (count: number) => new Float64Array(allocateBytes(8 * count));
  const rows = (name: 'dq' | 'dk' | 'dv'): Tensor | null =>
    gradients.includes(name) ? allocateRows(problem[name], allocate) : null;
  const { parts } = backwardWork(problem, tiles);
  const dq = rows('dq');
  return {
    dq,
    dk: rows('dk'),
    dv: rows('dv'),
    dqParts: dq && parts > 1 ? new Float32Array(allocateBytes(4 * parts * B * Hq * Sq * padded(Dqk))) : null,
    dsink: gradients.includes('dsink') ? doubles(B * Hq) : null,
    dAlibi: gradients.includes('dAlibi') ? doubles(B * Hq) : null,
    dbias: gradients.includes('dbias') && bias ? doubles(elementCount(bias.source)) : null,
  };
}

/** What is left to do when all tasks are done. */
export function finishBackward(
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  { kernels }: Machine,
  sums: BackwardSums,
  extras: BackwardExtras,
): BackwardResults {
  if (sums.dq && sums.dqParts) addParts(problem, operands, kernels, sums.dq, sums.dqParts);
  const { bias, Hq } = problem.forward;
  const amax = (name: BackwardAmaxName): Tensor | null => {
    const value = extras.amax[name];
    return problem.outputs[name] && value !== undefined ? Tensor.from([value], [1]) : null;
  };
  const results: Readonly<Partial<Record<GradientName | BackwardAmaxName, Tensor | null>>> = {
    dq: sums.dq,
    dk: sums.dk,
    dv: sums.dv,
    dbias: sums.dbias && bias && Tensor.from(sums.dbias, bias.source, { dtype: bias.dtype }),
    dsink: sums.dsink && sumOfSequences(sums.dsink, Hq),
    dAlibi: sums.dAlibi && sumOfSequences(sums.dAlibi, Hq),
    amaxDQ: amax('amaxDQ'),
    amaxDK: amax('amaxDK'),
    amaxDV: amax('amaxDV'),
    amaxDP: amax('amaxDP'),
  };
  return {
    gradients: Object.fromEntries(Object.entries(results).filter(([, t]) => t)),
    dCaptures: extras.dCaptures,
  };
}

/** Sums dq over the parts of the keys, in their order, and stores it. */
function addParts(
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  kernels: Kernels,
  dq: Tensor,
  parts: Float32Array,
): void {
  const { B, Hq, Sq, Dqk, scale } = problem.forward;
  const lengths = createLengths(problem.forward, operands);
  const { memory, scaleRows } = kernels;
  memory.reset();
  const result = createRowResult(kernels, dq, problem.dq, lengths.q, operands['raggedOffsets.dq']);
  const width = padded(Dqk);
  const sums = memory.scratch(Sq * width);
  const all = B * Hq * Sq * width;
  for (let b = 0; b < B; b++) {
    for (let h = 0; h < Hq; h++) {
      const { values } = sums;
      const head = (b * Hq + h) * Sq * width;
      values.set(parts.subarray(head, head + values.length));
      for (let part = head + all; part < parts.length; part += all) {
        for (let n = 0; n < values.length; n++) values[n] += parts[part + n];
      }
      scaleRows(Sq, width, sums.at, 4 * width, scale);
      result.store(b, h, 0, lengths.q.length(b), sums.at);
    }
  }
}

function sumOfSequences(perSequence: Float64Array, Hq: number): Tensor {
  const sums = new Float64Array(Hq);
  for (let n = 0; n < perSequence.length; n++) sums[n % Hq] += perSequence[n];
  return Tensor.from(sums, [Hq]);
}
