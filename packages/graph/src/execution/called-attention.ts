import type { OutputSelection, TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { AttentionStep } from '../lowering/attention-step.ts';
import { attentionOptions } from './attention-options.ts';
import { copyInto } from './copy-into.ts';
import type { PreparedStep, StepContext } from './prepared-step.ts';
import { runAttentionCall } from './run-attention-call.ts';
import { type AnyAttentionStep, stepNumbers } from './step-call.ts';

/** Readies attention as a call of the engine, whose results are copied to where they belong. */
export function prepareAttentionCall<T extends TensorDesc>(
  engine: TensorEngine<T>,
  step: AnyAttentionStep,
): PreparedStep<T> {
  const { structural, stream } = stepNumbers(step);
  return {
    isRecorded: false,
    workspaceBytes: 0,
    numbers: [...structural, ...(stream ? [stream.seed, stream.offset] : [])],
    run: context =>
      step.kind === 'attention-call'
        ? runAttentionCall(engine, step, context)
        : runAttention(engine, step, context),
    release: () => {},
  };
}

async function runAttention<T extends TensorDesc>(
  engine: TensorEngine<T>,
  step: AttentionStep,
  { tensor, numbers }: StepContext<T>,
): Promise<void> {
  const [q, k, v] = [step.q, step.k, step.v].map(tensor);
  const extents = { Sq: q.shape[2], Skv: k.shape[2] };
  // An engine takes host tensors as masks and captures; its own type says so for options only.
  const options = attentionOptions(step.options, extents, { tensor, numbers }) as Parameters<
    TensorEngine<T>['sdpa']
  >[3];
  const results =
    step.kind === 'sdpa'
      ? {
          ...(await engine.sdpa(q, k, v, {
            ...options,
            outDType: step.outDType,
            outputs: rowOutputs(step.results),
          })),
          dCaptures: {},
        }
      : await engine.sdpaBackward(
          { q, k, v, o: tensor(step.o), lse: tensor(step.lse), dO: tensor(step.dO) },
          { ...options, gradients: gradientNames.filter(name => step.results[name] !== undefined) },
        );
  const { dCaptures, ...named } = results;
  const others: Readonly<Record<string, T>> = dCaptures ?? {};
  const made: Readonly<Partial<Record<string, T>>> = named;
  for (const [name, value] of Object.entries(step.results)) {
    const result = made[name];
    if (result === undefined || value === undefined) continue;
    copyInto(engine, result, tensor(value));
  }
  for (const result of [...Object.values(made), ...Object.values(others)]) {
    if (result !== undefined) engine.release(result);
  }
}

/** The results of forward beside o and lse that a step takes. */
function rowOutputs({ max, sumExp }: { readonly max?: number; readonly sumExp?: number }): OutputSelection {
  return { max: max !== undefined, sumExp: sumExp !== undefined };
}

/** The gradients that a step may take. */
const gradientNames = ['dq', 'dk', 'dv', 'dbias'] as const;
