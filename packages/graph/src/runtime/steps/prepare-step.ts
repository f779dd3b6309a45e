import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Program, Step } from '../../ir/program/program.ts';
import { prepareAttentionCall } from './attention-call.ts';
import { prepareAttentionInPlace } from './attention-in-place.ts';
import type { PreparedStep } from './prepared-step.ts';
import { preparePrimitive } from './primitive.ts';

/** The name of a step in traces. */
export function nameOf(step: Step): string {
  if (step.kind === 'primitive') return step.primitive.kind;
  if (step.kind !== 'attention-call') return step.kind;
  return step.pass === 'forward' ? 'sdpa' : 'sdpa-backward';
}

/** Prepares a step of a program for an engine. */
export function prepareStep<T extends TensorDesc>(
  engine: TensorEngine<T>,
  program: Program,
  step: Step,
): PreparedStep<T> {
  if (step.kind === 'primitive') return preparePrimitive(engine, program, step);
  const { prepareAttention } = engine;
  return prepareAttention
    ? prepareAttentionInPlace(engine, prepareAttention, program, step)
    : prepareAttentionCall(engine, step);
}
