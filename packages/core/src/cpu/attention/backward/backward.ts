import type {
  BackwardAmaxName,
  BackwardOperands,
  BackwardProblem,
  GradientName,
  LengthsKind,
} from '../../../attention/problem/problem.ts';
import { allocateBy } from '../../../tensor/allocate.ts';
import { encodeArray } from '../../../tensor/dtype/convert.ts';
import { elementCount } from '../../../tensor/shape.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { type AllocateTensor, allocateIn, allocateRows, allocateTensor } from '../../operands/row-result.ts';
import type { PassContext } from '../pass-context.ts';
import { inOrder } from '../tasks.ts';
import { runBackward } from './backward-pass.ts';
import type { BackwardExtras, BackwardSums } from './sums.ts';

/**
 * The requested gradients and largest magnitudes by name, and the gradients of the tensors that the score mod
 * loads floats from.
 */
export interface BackwardResults {
  readonly gradients: Readonly<Partial<Record<GradientName | BackwardAmaxName, Tensor>>>;
  readonly dCaptures: Readonly<Record<string, Tensor>> | null;
}

/** The storage that backward writes to: existing tensors for gradients, and memory for sums. */
export interface BackwardTargets {
  readonly into?: Readonly<Partial<Record<'dq' | 'dk' | 'dv' | 'dbias', Tensor>>>;
  readonly allocateBytes?: AllocateBytes;
}

/** Allocates zeroed memory that starts at a multiple of 8 bytes. */
export type AllocateBytes = (bytes: number) => Uint8Array;

const zeroedBytes: AllocateBytes = bytes => allocateBy(n => new Uint8Array(n), bytes);

/** The gradients of a problem. */
export function backward(
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  context: PassContext,
  { into, allocateBytes = zeroedBytes }: BackwardTargets = {},
): BackwardResults {
  const sums = allocateBackward(problem, allocateTensor, allocateBytes, into);
  const extras = runBackward(problem, operands, context, sums, inOrder());
  return finishBackward(problem, sums, extras, into);
}

/** Zeroed results and sums for the tasks of a problem in which no head is cut. */
export function allocateBackward(
  problem: BackwardProblem,
  allocate: AllocateTensor,
  allocateBytes: AllocateBytes,
  into: BackwardTargets['into'] = {},
): BackwardSums {
  const { gradients } = problem;
  const sums = sumBytes(problem);
  const doubles = (name: SumName): Float64Array | null => {
    const size = sums[name];
    const bytes = size === null ? null : allocateBytes(size);
    return bytes && new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
  };
  const { Sq, lengthsQ, lengthsKv } = problem.forward;
  const rows = (name: 'dq' | 'dk' | 'dv', lengths: LengthsKind): Tensor | null => {
    if (!gradients.includes(name)) return null;
    // Without queries, no task writes the gradients of k and v, so they must be zeroed.
    return allocateRows(problem[name], Sq === 0 ? 'lengths' : lengths, allocateIn(into[name], allocate));
  };
  return {
    dq: rows('dq', lengthsQ),
    dk: rows('dk', lengthsKv),
    dv: rows('dv', lengthsKv),
    dqParts: null,
    dsink: doubles('dsink'),
    dAlibi: doubles('dAlibi'),
    dbias: doubles('dbias'),
  };
}

type SumName = 'dsink' | 'dAlibi' | 'dbias';

/**
 * The bytes of each sum of a problem that is not yet a result; null for sums that the problem does not have.
 */
export function sumBytes({
  gradients,
  forward: { B, Hq, Sq, bias },
}: BackwardProblem): Readonly<Record<SumName, number | null>> {
  const perHead = 8 * Hq * (Sq === 0 ? 1 : B);
  return {
    dsink: gradients.includes('dsink') ? perHead : null,
    dAlibi: gradients.includes('dAlibi') ? perHead : null,
    dbias: gradients.includes('dbias') && bias ? 8 * elementCount(bias.source) : null,
  };
}

/** Finishes the backward pass when all tasks are done. */
export function finishBackward(
  problem: BackwardProblem,
  sums: BackwardSums,
  extras: BackwardExtras,
  into: BackwardTargets['into'] = {},
): BackwardResults {
  const { bias, Hq } = problem.forward;
  const results: Readonly<Record<GradientName, Tensor | null>> = {
    dq: sums.dq,
    dk: sums.dk,
    dv: sums.dv,
    dbias: sums.dbias && bias && stored(sums.dbias, into.dbias ?? allocateTensor(bias.source, bias.dtype)),
    dsink: sums.dsink && sumOfSequences(sums.dsink, Hq),
    dAlibi: sums.dAlibi && sumOfSequences(sums.dAlibi, Hq),
  };
  const amaxes = Object.entries(extras.amax).filter(([name]) => problem.outputs[name as BackwardAmaxName]);
  return {
    gradients: {
      ...Object.fromEntries(Object.entries(results).filter(([, t]) => t)),
      ...Object.fromEntries(amaxes.map(([name, value]) => [name, Tensor.from([value], [1])])),
    },
    dCaptures: extras.dCaptures,
  };
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
