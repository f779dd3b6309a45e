import { ownerOf, type PrimitiveStep, type Program, type ProgramValue } from '../../../ir/program/program.ts';
import { isDenseCopy } from '../placed-step.ts';

/**
 * Leaves out copies of contiguous tensors, as a reshape makes: what reads the copy reads the tensor. Both
 * must be temporaries, which nothing writes again.
 */
export function elideCopies(program: Program): Program {
  const values = [...program.values];
  const steps: PrimitiveStep[] = [];
  const elided = new Map<number, number>();
  for (const step of program.steps) {
    // Attention names its values; operations in place write a value twice.
    if (step.kind !== 'primitive' || step.primitive.kind === 'tensor-scatter') return program;
    const read = { ...step, inputs: step.inputs.map(value => throughCopies(value, values, elided)) };
    if (isElided(read, values)) elided.set(step.outputs[0], ownerOf(read.inputs[0], values));
    else steps.push(read);
  }
  return { values, steps };
}

/** A value in the memory that its copy was made from, where the copy is left out. */
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
