import { ownerOf, type PrimitiveStep, type Program, type ProgramValue } from '../../../ir/program/program.ts';
import { isDenseCopy } from '../placed-step.ts';

/**
 * Removes copies of contiguous tensors, such as a reshape makes: readers of the copy read the tensor. Both
 * must be temporaries, which no later step writes.
 */
export function elideCopies(program: Program): Program {
  const values = [...program.values];
  const steps: PrimitiveStep[] = [];
  const elided = new Map<number, number>();
  for (const step of program.steps) {
    // Attention refers to its values by name, and in-place operations write a value twice.
    if (step.kind !== 'primitive' || step.primitive.kind === 'tensor-scatter') return program;
    const read = { ...step, inputs: step.inputs.map(value => throughCopies(value, values, elided)) };
    if (isElided(read, values)) elided.set(step.outputs[0], ownerOf(read.inputs[0], values));
    else steps.push(read);
  }
  return { values, steps };
}

/** A value with removed copies replaced by their sources. */
function throughCopies(value: number, values: ProgramValue[], elided: ReadonlyMap<number, number>): number {
  const from = elided.get(ownerOf(value, values));
  return from === undefined ? value : values.push({ kind: 'view', of: from, desc: values[value].desc }) - 1;
}

function isElided(step: PrimitiveStep, values: readonly ProgramValue[]): boolean {
  if (!isDenseCopy(step, values)) return false;
  const [from, to] = [step.inputs[0], step.outputs[0]];
  return (
    values[ownerOf(from, values)].kind === 'temporary' && values[from].desc.dtype === values[to].desc.dtype
  );
}
