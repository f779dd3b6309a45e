import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { allNumbers, attentionCall, resultsOf, stepNumbers } from '../../compile/attention/step-call.ts';
import type { AttentionStep } from '../../ir/program/attention-step.ts';
import { copyInto } from './copy-into.ts';
import type { PreparedStep, StepContext } from './prepared-step.ts';

/** Prepares attention as an eager call of the engine; its results are copied to the step's values. */
export function prepareAttentionCall<T extends TensorDesc>(
  engine: TensorEngine<T>,
  step: AttentionStep,
): PreparedStep<T> {
  return {
    isRecorded: false,
    workspaceBytes: 0,
    values: [],
    numbers: allNumbers(stepNumbers(step)),
    run: context => callAttention(engine, step, context),
    release: () => {},
  };
}

async function callAttention<T extends TensorDesc>(
  engine: TensorEngine<T>,
  step: AttentionStep,
  { tensor, numbers }: StepContext<T>,
): Promise<boolean> {
  const call = attentionCall(step, tensor, numbers);
  if (!call) return false;
  const { dCaptures, ...named } =
    call.pass === 'forward'
      ? {
          ...(await engine.sdpa(call.inputs.q, call.inputs.k, call.inputs.v, call.options)),
          dCaptures: undefined,
        }
      : await engine.sdpaBackward(call.inputs, call.options);
  const made: Readonly<Partial<Record<string, T>>> = named;
  try {
    for (const [name, value] of resultsOf(step)) {
      const result = made[name];
      if (result) copyInto(engine, result, tensor(value));
    }
  } finally {
    for (const result of [...Object.values(made), ...Object.values<T>(dCaptures ?? {})]) {
      if (result) engine.release(result);
    }
  }
  return true;
}
