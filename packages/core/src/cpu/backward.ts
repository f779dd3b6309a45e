import { createLengths } from '../attention/lengths.ts';
import type { BackwardOperands } from '../attention/normalise.ts';
import type { BackwardAmaxName, GradientName } from '../attention/options.ts';
import type { BackwardProblem, LengthsKind } from '../attention/problem.ts';
import { encodeArray } from '../tensor/convert.ts';
import { elementCount } from '../tensor/shape.ts';
import { Tensor } from '../tensor/tensor.ts';
import { type BackwardExtras, type BackwardSums, runBackward } from './backward-pass.ts';
import { type Kernels, padded } from './kernels/kernels.ts';
import type { Machine } from './machine.ts';
import { type AllocateTensor, allocateIn, allocateRows, allocateTensor, createRowResult } from './results.ts';
import { type TileSize, tileSizeOf } from './tile-size.ts';
import { backwardWork, inOrder } from './work.ts';

/** Gradients and largest values by name, those that were asked for; and the gradients of the tensors that the score mod loads floats from. */
export interface BackwardResults {
  readonly gradients: Readonly<Partial<Record<GradientName | BackwardAmaxName, Tensor>>>;
  readonly dCaptures: Readonly<Record<string, Tensor>> | null;
}

/** Where results are to be written: gradients that are there, contiguous, and memory for sums. */
export interface BackwardPlaces {
  readonly into?: Readonly<Partial<Record<'dq' | 'dk' | 'dv' | 'dbias', Tensor>>>;
  readonly allocateBytes?: AllocateBytes;
}

/** Makes memory of zeros, which begins at a multiple of 8 bytes. */
export type AllocateBytes = (bytes: number) => Uint8Array;

/** The gradients of a problem. */
export function backward(
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  machine: Machine,
  { into, allocateBytes = bytes => new Uint8Array(bytes) }: BackwardPlaces = {},
): BackwardResults {
  const sums = allocateBackward(problem, machine, allocateTensor, allocateBytes, into);
  const extras = runBackward(problem, operands, machine, sums, inOrder());
  return finishBackward(problem, operands, machine, sums, extras, into);
}

/** Zeros for the tasks of a problem to write to. */
export function allocateBackward(
  problem: BackwardProblem,
  { tiles }: Pick<Machine, 'tiles'>,
  allocate: AllocateTensor,
  allocateBytes: AllocateBytes,
  into: BackwardPlaces['into'] = {},
): BackwardSums {
  const { gradients } = problem;
  const memory = (name: SumName): Uint8Array | null => {
    const bytes = sums[name];
    return bytes === null ? null : allocateBytes(bytes);
  };
  const sums = sumBytes(problem, tiles);
  const doubles = (name: SumName): Float64Array | null => {
    const bytes = memory(name);
    return bytes && new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
  };
  const parts = memory('dqParts');
  const { lengthsQ, lengthsKv } = problem.forward;
  const rows = (name: 'dq' | 'dk' | 'dv', lengths: LengthsKind): Tensor | null =>
    gradients.includes(name) ? allocateRows(problem[name], lengths, allocateIn(into[name], allocate)) : null;
  return {
    dq: rows('dq', lengthsQ),
    dk: rows('dk', lengthsKv),
    dv: rows('dv', lengthsKv),
    dqParts: parts && new Float32Array(parts.buffer, parts.byteOffset, parts.length / 4),
    dsink: doubles('dsink'),
    dAlibi: doubles('dAlibi'),
    dbias: doubles('dbias'),
  };
}

type SumName = 'dqParts' | 'dsink' | 'dAlibi' | 'dbias';

/** How many bytes the sums of a problem take that are no results yet; null for those that it has not. */
export function sumBytes(
  problem: BackwardProblem,
  tiles: TileSize = tileSizeOf(problem.forward),
): Readonly<Record<SumName, number | null>> {
  const { gradients, forward } = problem;
  const { B, Hq, Sq, Dqk, bias } = forward;
  const { parts } = backwardWork(problem, tiles);
  return {
    dqParts: gradients.includes('dq') && parts > 1 ? 4 * parts * B * Hq * Sq * padded(Dqk) : null,
    dsink: gradients.includes('dsink') ? 8 * B * Hq : null,
    dAlibi: gradients.includes('dAlibi') ? 8 * B * Hq : null,
    dbias: gradients.includes('dbias') && bias ? 8 * elementCount(bias.source) : null,
  };
}

/** What is left to do when all tasks are done. */
export function finishBackward(
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  { kernels }: Machine,
  sums: BackwardSums,
  extras: BackwardExtras,
  into: BackwardPlaces['into'] = {},
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
    dbias: sums.dbias && bias && stored(sums.dbias, into.dbias ?? allocateTensor(bias.source, bias.dtype)),
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

function stored(values: Float64Array, result: Tensor): Tensor {
  encodeArray(result.dtype, values, result.data);
  return result;
}

function sumOfSequences(perSequence: Float64Array, Hq: number): Tensor {
  const sums = new Float64Array(Hq);
  for (let n = 0; n < perSequence.length; n++) sums[n % Hq] += perSequence[n];
  return Tensor.from(sums, [Hq]);
}
