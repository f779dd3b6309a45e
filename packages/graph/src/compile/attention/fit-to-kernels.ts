import { type DType, Tensor, type TensorDesc } from '@tilewise/core';
import { input } from '@tilewise/core/primitive';
import { type AttentionCallStep, operandForm } from '../../ir/program/attention-call.ts';
import type { AttentionStep, SdpaStep } from '../../ir/program/attention-step.ts';
import { exprType } from '../../ir/program/expr.ts';
import type { PrimitiveStep, Program, ProgramValue, Step } from '../../ir/program/program.ts';
import { readFp8List, writeFp8List } from './fp8-list.ts';
import { resultsOf, syntheticProblem } from './step-call.ts';
import { dense, isWritable, writtenResults } from './written-results.ts';

/** The program that is rewritten, to which values and steps are added. */
interface Rewriting {
  readonly onDevice: boolean;
  readonly descOf: (value: number) => TensorDesc;
  temporary(desc: TensorDesc): number;
  /** A value whose elements are all `number`. */
  everywhere(number: number, shape: readonly number[]): number;
}

/** The steps to insert before and after a step. */
interface Around {
  readonly before: Step[];
  readonly after: Step[];
}

/**
 * Rewrites a program so that attention has a result tensor for everything that kernels write, in a dtype and
 * layout that they can write. If a result has another dtype or layout, a temporary and a copy are inserted;
 * the same holds for the rows and lists that kernels read. Rows that kernels do not write are filled first,
 * and FP8 scalars and amax values are passed in a list.
 * @param onDevice whether a device's kernels write the results: these skip rows outside all sequences. A host
 * engine writes results completely, but those of sequences with lengths only if they are dense.
 */
export function fitToKernels({ values: given, steps: asWritten }: Program, onDevice: boolean): Program {
  const values: ProgramValue[] = [...given];
  const add = (value: ProgramValue): number => values.push(value) - 1;
  const rewriting: Rewriting = {
    onDevice,
    descOf: value => values[value].desc,
    temporary: desc => add({ kind: 'temporary', desc }),
    everywhere(number, shape) {
      const data = Tensor.from([number], [1]);
      const desc: TensorDesc = { dtype: 'f32', shape, strides: shape.map(() => 0) };
      return add({ kind: 'view', of: add({ kind: 'constant', data, desc: data }), desc });
    },
  };
  const steps = asWritten.flatMap((step): Step[] => {
    if (step.kind === 'primitive') return [step];
    const around: Around = { before: [], after: [] };
    const fitted = throughList(
      withDenseRowsAndLists(withWritable(step, around, rewriting), around, rewriting),
      around,
      rewriting,
    );
    return [...around.before, fitted, ...around.after];
  });
  return { values, steps };
}

/** Replaces the results of a step by tensors that kernels can write. */
function withWritable<S extends AttentionStep>(step: S, { before, after }: Around, rewriting: Rewriting): S {
  const { onDevice, descOf, temporary, everywhere } = rewriting;
  const wanted = new Map(resultsOf(step));
  const results: Record<string, number> = Object.fromEntries(wanted);
  const problem = syntheticProblem(step, descOf);
  const { lengthsQ, lengthsKv } = 'forward' in problem ? problem.forward : problem;
  const isFull = lengthsQ === 'full' && lengthsKv === 'full';
  for (const [name, desc] of Object.entries(writtenResults(step, problem))) {
    const value = wanted.get(name);
    const place = { ...desc, anywhere: desc.anywhere && (onDevice || isFull) };
    const fits = value !== undefined && isWritable(descOf(value), place);
    results[name] = fits ? value : temporary(desc);
    if (!fits && value !== undefined) after.push(copy(results[name], value, rewriting));
    if (onDevice && desc.unused !== null)
      before.push(copy(everywhere(desc.unused, desc.shape), results[name], rewriting));
  }
  return { ...step, results };
}

/**
 * Replaces the rows and lists that a step reads by contiguous tensors, which kernels require; rows also by
 * f32.
 */
function withDenseRowsAndLists(step: AttentionStep, { before }: Around, rewriting: Rewriting): AttentionStep {
  const fitted = (value: number, dtype: DType): number => {
    const place = dense(dtype, rewriting.descOf(value).shape);
    if (isWritable(rewriting.descOf(value), place)) return value;
    const copied = rewriting.temporary(place);
    before.push(copy(value, copied, rewriting));
    return copied;
  };
  if (step.kind === 'sdpa') return step;
  if (step.kind === 'sdpa-backward') return { ...step, lse: fitted(step.lse, 'f32') };
  const operands = Object.entries(step.operands).map(([name, value]): [string, number] => {
    const form = operandForm(name);
    const { dtype } = rewriting.descOf(value);
    if (form === 'rows') return [name, fitted(value, 'f32')];
    return [name, form === 'list' ? fitted(value, dtype) : value];
  });
  return { ...step, operands: Object.fromEntries(operands) };
}

/** Moves the FP8 scalars and amax values of a step into a list. */
function throughList(
  step: AttentionStep,
  { before, after }: Around,
  { temporary, everywhere }: Rewriting,
): AttentionStep {
  if (step.kind === 'sdpa-backward') return step;
  const scalars = scalarsOf(step, everywhere);
  if (scalars.length === 0) return step;
  const { steps, list } = writeFp8List(scalars, temporary);
  before.push(...steps);
  const results: Record<string, number> = { ...step.results };
  for (const [name, value] of resultsOf(step)) {
    if (!name.startsWith('amax')) continue;
    after.push(readFp8List(list, name, value));
    results[name] = list;
  }
  return { ...step, results, fp8List: list };
}

/** The FP8 scalars of a step, by name; empty if the host knows them all. */
function scalarsOf(
  step: SdpaStep | AttentionCallStep,
  everywhere: Rewriting['everywhere'],
): (readonly [name: string, value: number])[] {
  if (step.kind === 'attention-call') {
    return Object.entries(step.operands).flatMap(([name, value]) =>
      name.startsWith('fp8.') ? [[name.slice('fp8.'.length), value] as const] : [],
    );
  }
  const { rounding } = step.options;
  if (!rounding || (rounding.factor === undefined && step.results.amaxS === undefined)) return [];
  return [
    ['scaleS', rounding.factor ?? everywhere(1 / rounding.scale, [1])],
    ['descaleS', everywhere(rounding.descale, [1])],
  ];
}

function copy(from: number, to: number, { descOf }: Rewriting): PrimitiveStep {
  return {
    kind: 'primitive',
    primitive: { kind: 'map', value: input(0, exprType(descOf(from).dtype)) },
    inputs: [from],
    outputs: [to],
  };
}
