import {
  type AttentionProblem,
  type BackwardProblem,
  describeDense,
  dtypeInfo,
  type OperandDesc,
  Tensor,
  type TensorDesc,
} from '@tilewise/core';
import { contiguousDesc, type HostArray, isHostArray } from '@tilewise/core/engine';
import type { PrepareAttention, PreparedAttention, TensorEngine } from '@tilewise/core/primitive';
import { fp8ListOf } from '../../compile/attention/fp8-list.ts';
import type { Numbers } from '../../compile/attention/options.ts';
import { resultsOf, stepCall } from '../../compile/attention/step-call.ts';
import type { AttentionStep } from '../../ir/program/attention-step.ts';
import { type RecurringWork, recurringWork } from './recurring-work.ts';

/** A value of the program that stands for its tensor. */
export interface Operand extends TensorDesc {
  readonly value: number;
}

/** Attention that is prepared for the numbers of a step, except those that may differ between its runs. */
export interface PreparedCall<T extends object> {
  readonly prepared: PreparedAttention<T>;
  /** The values of the tensors, by the names that engines use. */
  readonly values: ReadonlyMap<string, number>;
  /** Whether the scale is an option of the call; otherwise the score mod applies it. */
  readonly isScaled: boolean;
  /** The call on tensors that recur. */
  readonly recurring: RecurringWork<T>;
  /** The scale of the last run. */
  scale?: number | undefined;
  /** The tensors of the call, including those that it owns, by the names that engines use. */
  tensors(tensor: (value: number) => T): Record<string, T>;
  release(): void;
}

/**
 * Prepares a call and uploads the tensors that it owns; on an error it frees everything.
 * @returns null if the step with these numbers is not that attention.
 */
export function prepareCall<T extends TensorDesc>(
  engine: TensorEngine<T>,
  prepare: PrepareAttention<T>,
  step: AttentionStep,
  descOf: (value: number) => Operand,
  numbers: Numbers,
): PreparedCall<T> | null {
  const described = stepCall(step, descOf, numbers);
  if (!described) return null;
  const { problem, operands } = described;
  const values = new Map(
    resultsOf(step)
      .filter(([name]) => !name.startsWith('amax'))
      // The plain name already belongs to an operand.
      .map(([name, value]) => [name === 'dropoutMask' ? 'outputs.dropoutMask' : name, value]),
  );
  const { scoreMod } = 'forward' in problem ? problem.forward : problem;
  const isScaled = step.kind === 'attention-call' || scoreMod === null;
  const own: Record<string, T> = {};
  const prepared = prepare(inPlace(problem, step, descOf));
  const recurring = recurringWork<T>((tensor, workspace) =>
    prepared.bind?.(call.tensors(tensor), { scale: call.scale, workspace }),
  );
  const call: PreparedCall<T> = {
    ...{ prepared, values, isScaled, recurring },
    tensors: tensor => ({
      ...own,
      ...Object.fromEntries([...values].map(([name, value]) => [name, tensor(value)])),
    }),
    release() {
      recurring.release();
      prepared.release();
      for (const tensor of Object.values(own)) engine.release(tensor);
    },
  };
  const list = step.kind === 'sdpa-backward' ? undefined : step.fp8List;
  try {
    for (const [name, operand] of named(operands)) {
      if (name === 'fp8' && list !== undefined) values.set(name, list);
      else if (name === 'fp8') own[name] = engine.upload(fp8ListOf(operand as Record<string, HostArray>));
      else if (isHostArray(operand)) own[name] = engine.upload(Tensor.wrap(operand.data, operand));
      else values.set(name, (operand as Operand).value);
    }
    // Engines also compute the gradients of a mod's captures, but no program uses them.
    if ('forward' in problem && problem.forward.scoreMod) {
      for (const [name, { dtype, shape }] of Object.entries(problem.forward.captures)) {
        if (dtypeInfo[dtype].kind === 'float') {
          own[`dCaptures.${name}`] = engine.primitives.allocate({ dtype, shape });
        }
      }
    }
  } catch (error) {
    call.release();
    throw error;
  }
  return call;
}

/** Operands by the names that engines use; the FP8 scalars remain one entry. */
function named(operands: object): (readonly [string, object])[] {
  return Object.entries(operands).flatMap(([name, operand]) => {
    if (name !== 'captures') return [[name, operand] as const];
    return Object.entries<object>(operand).map(([capture, t]) => [`captures.${capture}`, t] as const);
  });
}

/** Gives the results of a step's problem the layouts of the values that they are written to. */
export function inPlace(
  problem: AttentionProblem | BackwardProblem,
  step: AttentionStep,
  descOf: (value: number) => TensorDesc,
): AttentionProblem | BackwardProblem {
  const layouts = resultsOf(step)
    .filter(([name]) => ['o', 'dq', 'dk', 'dv'].includes(name))
    .map(([name, value]) => {
      const asked = (problem as unknown as Readonly<Record<string, OperandDesc>>)[name];
      const isStrided = asked.starts === 'strided';
      return [name, isStrided ? describeDense(name, descOf(value)) : contiguousDesc(asked)] as const;
    });
  return { ...problem, ...Object.fromEntries(layouts) };
}
