import type { DType } from '@tilewise/core';
import { type Program, type Step, valuesByOwner } from '../../ir/program/program.ts';
import { isNarrow } from './keep-narrow.ts';
import { expressionOf, isMove, isPlaced, usersOf } from './placed-step.ts';

/**
 * Stores an f32 result in 16 bits if every step that reads the result casts it to the same 16-bit dtype; the
 * casts become copies. A transpose or a slice that writes 16 bits counts as a cast.
 */
export function narrowResults(program: Program): Program {
  const values = [...program.values];
  const users = usersOf(program);
  const byOwner = valuesByOwner(values);
  const dtypeOf = (value: number): DType => values[value].desc.dtype;

  /** The 16-bit dtype to which a step only casts or moves f32 elements; null for any other step. */
  function narrowedBy(step: Step): DType | null {
    if (!isMove(step)) return null;
    const dtype = dtypeOf(step.outputs[0]);
    return isNarrow(dtype) && dtypeOf(step.inputs[0]) === 'f32' ? dtype : null;
  }

  for (const step of [...program.steps].reverse()) {
    if (!canRound(step)) continue;
    const [output] = step.outputs;
    if (values[output].kind !== 'temporary' || dtypeOf(output) !== 'f32') continue;
    const readers = [...(users.get(output) ?? [])].filter(user => user !== step);
    const [dtype = null, ...others] = new Set(readers.map(narrowedBy));
    if (dtype === null || others.length > 0) continue;
    for (const n of byOwner.get(output) ?? [])
      values[n] = { ...values[n], desc: { ...values[n].desc, dtype } };
  }
  return { values, steps: program.steps };
}

/** Whether a step computes in f32 and rounds its result to the dtype in which it is stored. */
function canRound(step: Step): step is Extract<Step, { kind: 'primitive' }> {
  if (isPlaced(step)) return expressionOf(step).type === 'f32';
  return step.kind === 'primitive' && step.primitive.kind === 'matmul';
}
