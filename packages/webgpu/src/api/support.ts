import {
  type AttentionProblem,
  type BackwardProblem,
  type DType,
  dtypeTraits,
  type Support,
} from '@tilewise/core';
import { captureTensor } from '../attention/score/captures.ts';
import { storageFormats } from '../codegen/formats/storage-format.ts';

/** Largest head size of the kernels. */
export const maxHeadSize = 512;

interface Reason<P> {
  readonly applies: (problem: P) => boolean;
  readonly reason: (problem: P) => string;
}

const unreadable = (dtype: DType | undefined): boolean => dtype !== undefined && !(dtype in storageFormats);
const dtypes = (p: AttentionProblem): (readonly [string, DType | undefined])[] => [
  ['q', p.q.dtype],
  ['k', p.k.dtype],
  ['v', p.v.dtype],
  ['o', p.o.dtype],
  ['bias', p.bias?.dtype],
  ...Object.entries(p.captures)
    .filter(([, { dtype }]) => dtypeTraits[dtype].kind === 'float')
    .map(([name, { dtype }]) => [captureTensor(name), dtype] as const),
];

/** What the kernels cannot do, in the order of the options. */
const forwardLimits: readonly Reason<AttentionProblem>[] = [
  {
    applies: p => dtypes(p).some(([, dtype]) => unreadable(dtype)),
    reason: p => {
      const [name, dtype] = dtypes(p).find(([, d]) => unreadable(d)) ?? [];
      return `${name} is stored as ${dtype}; the kernels read and write ${Object.keys(storageFormats).join(', ')}`;
    },
  },
  {
    applies: p => Math.max(p.Dqk, p.Dv) > maxHeadSize,
    reason: p => `head size ${Math.max(p.Dqk, p.Dv)} is above ${maxHeadSize}`,
  },
];

const backwardLimits: readonly Reason<BackwardProblem>[] = [
  {
    // The kernel of these writes to the workspace, where dequantised operands lie.
    applies: ({ forward: { fp8, scoreMod, captures } }) =>
      fp8?.kind === 'blocks' &&
      scoreMod !== null &&
      Object.values(captures).some(({ dtype }) => dtypeTraits[dtype].kind === 'float'),
    reason: () => 'gradients of captured tensors are not supported with mxfp8',
  },
  { applies: p => unreadable(p.dO.dtype), reason: p => `dO is stored as ${p.dO.dtype}` },
];

function reasonsOf<P>(reasons: readonly Reason<P>[], problem: P): string[] {
  return reasons.filter(({ applies }) => applies(problem)).map(({ reason }) => reason(problem));
}

/** What stands against a forward problem, before any kernel is made for it. */
export function forwardReasons(problem: AttentionProblem): string[] {
  return reasonsOf(forwardLimits, problem);
}

/** The same for backward. */
export function backwardReasons(problem: BackwardProblem): string[] {
  return [...forwardReasons(problem.forward), ...reasonsOf(backwardLimits, problem)];
}

export function support(reasons: readonly string[]): Support {
  return { supported: reasons.length === 0, reasons };
}
