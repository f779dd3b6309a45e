import {
  type AttentionProblem,
  type BackwardProblem,
  contiguousStrides,
  type DType,
  isContiguous,
  type Shape,
  type TensorDesc,
} from '@tilewise/core';
import { input } from '@tilewise/core/primitive';
import { exprType } from '../lowering/expr-type.ts';
import type { PrimitiveStep, Program, ProgramValue, Step } from '../lowering/program.ts';
import { isRecordable } from './recorded-attention.ts';
import { type AnyAttentionStep, gradientDType, problemBeforehand, resultsOf } from './step-call.ts';

/**
 * A program whose attention writes to tensors that kernels can write to, and has all those that they do write: where a result is
 * of another dtype or lies in another way, a temporary and a copy are put in between; so are the rows that backward reads.
 */
export function stageAttention({ values: given, steps: asWritten }: Program): Program {
  const values: ProgramValue[] = [...given];
  const descOf = (n: number): TensorDesc => values[n].desc;
  const temporary = (desc: TensorDesc): number => values.push({ kind: 'temporary', desc }) - 1;
  const steps = asWritten.flatMap((step): Step[] => {
    if (step.kind === 'primitive') return [step];
    const problem = problemBeforehand(step, descOf);
    if (!isRecordable(problem, step)) return [step];
    const after: Step[] = [];
    const wanted = new Map(resultsOf(step));
    const results: Record<string, number> = {};
    for (const [name, desc] of Object.entries(writtenBy(step, problem, descOf))) {
      const value = wanted.get(name);
      const fits = value !== undefined && isWritable(descOf(value), desc);
      results[name] = fits ? value : temporary(desc);
      if (!fits && value !== undefined) after.push(copy(results[name], value, desc));
    }
    const before: Step[] = [];
    const denseRows = (value: number): number => {
      const desc = descOf(value);
      const rows = written('f32', desc.shape);
      if (isWritable(desc, rows)) return value;
      const staged = temporary(rows);
      before.push(copy(value, staged, desc));
      return staged;
    };
    const staged = withResults(step, results, denseRows);
    return [...before, staged, ...after];
  });
  return { values, steps };
}

/** A step with other results, and the rows that it reads in another place. */
function withResults(
  step: AnyAttentionStep,
  results: Readonly<Record<string, number>>,
  denseRows: (value: number) => number,
): Step {
  if (step.kind === 'sdpa') return { ...step, results };
  if (step.kind === 'sdpa-backward') return { ...step, results, lse: denseRows(step.lse) };
  const rows = Object.entries(step.operands)
    .filter(([name]) => name === 'lse' || name === 'dLse')
    .map(([name, value]) => [name, denseRows(value)] as const);
  return { ...step, results, operands: { ...step.operands, ...Object.fromEntries(rows) } };
}

/** A result as kernels write it, in any place or dense. */
interface Written extends TensorDesc {
  readonly anywhere: boolean;
}

const written = (dtype: DType, shape: Shape, anywhere = false): Written => ({
  ...{ dtype, shape, strides: contiguousStrides(shape), anywhere },
});

/** What the kernels of a step write, by name. */
function writtenBy(
  step: AnyAttentionStep,
  problem: AttentionProblem | BackwardProblem,
  descOf: (value: number) => TensorDesc,
): Readonly<Record<string, Written>> {
  const wanted = new Set(resultsOf(step).map(([name]) => name));
  const kept = (all: Readonly<Record<string, Written | null>>): Record<string, Written> =>
    Object.fromEntries(
      Object.entries(all).flatMap(([name, desc]) => (desc && wanted.has(name) ? [[name, desc]] : [])),
    );
  if (!('forward' in problem)) {
    const { B, Hq, Sq, Skv, o } = problem;
    const rows = written('f32', [B, Hq, Sq]);
    const dropoutMask = written('u8', [B, Hq, Sq, Skv]);
    return {
      o: written(o.dtype, o.shape, true),
      lse: rows,
      ...kept({ max: rows, sumExp: rows, dropoutMask }),
    };
  }
  const { dq, dk, dv, forward } = problem;
  const { bias, Hq } = forward;
  const dtype = gradientDType(step, descOf);
  const perHead = written('f32', [Hq]);
  return kept({
    dq: written(dtype ?? dq.dtype, dq.shape, true),
    dk: written(dtype ?? dk.dtype, dk.shape, true),
    dv: written(dtype ?? dv.dtype, dv.shape, true),
    ...{ dsink: perHead, dAlibi: perHead, dbias: bias && written(bias.dtype, bias.source) },
  });
}

function isWritable(desc: TensorDesc, { dtype, shape, anywhere }: Written): boolean {
  if (desc.dtype !== dtype || `${desc.shape}` !== `${shape}`) return false;
  return anywhere || isContiguous(desc.shape, desc.strides);
}

function copy(from: number, to: number, { dtype }: TensorDesc): PrimitiveStep {
  return {
    kind: 'primitive',
    primitive: { kind: 'map', value: input(0, exprType(dtype)) },
    inputs: [from],
    outputs: [to],
  };
}
