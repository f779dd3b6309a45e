import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import {
  type AnyAttentionStep,
  callArguments,
  resultsOf,
  stepNumbers,
} from '../../compile/attention/step-call.ts';
import { copyInto } from './copy-into.ts';
import type { PreparedStep, StepContext } from './prepared-step.ts';

/** Readies attention as a call of the engine, whose results are copied to where they belong. */
export function prepareAttentionCall<T extends TensorDesc>(
  engine: TensorEngine<T>,
  step: AnyAttentionStep,
): PreparedStep<T> {
  const { structural, scale, stream } = stepNumbers(step);
  return {
    isRecorded: false,
    workspaceBytes: 0,
    numbers: [...structural, ...scale, ...(stream ? [stream.seed, stream.offset] : [])],
    run: context => callAttention(engine, step, context),
    release: () => {},
  };
}

async function callAttention<T extends TensorDesc>(
  engine: TensorEngine<T>,
  step: AnyAttentionStep,
  { tensor, numbers }: StepContext<T>,
): Promise<void> {
  const { pass, inputs, options } = callArguments(step, tensor, numbers);
  const { q, k, v } = inputs;
  const { dCaptures, ...named } =
    pass === 'forward'
      ? { ...(await engine.sdpa(q, k, v, options)), dCaptures: undefined }
      : await engine.sdpaBackward(inputs, options);
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
}
