import { elementCount, isContiguous } from '@tilewise/core';
import {
  ownerOf,
  type PrimitiveStep,
  type Program,
  type ProgramValue,
  type Step,
} from '../../../ir/program/program.ts';
import { touched } from '../../memory-plan.ts';
import { isWholeCopy } from '../placed-step.ts';

/**
 * Removes copies of whole temporaries to outputs: the steps that use the temporary use the output's memory
 * instead.
 */
export function writeOutputs(program: Program): Program {
  const values = [...program.values];
  const steps: Step[] = [];
  const used = new Set<number>();
  for (const step of program.steps) {
    const copied = step.kind === 'primitive' ? copiedTemporary(step, values) : null;
    const target = step.kind === 'primitive' ? step.outputs[0] : -1;
    if (copied !== null && !used.has(target)) {
      for (const [n, value] of values.entries()) {
        if (ownerOf(n, values) !== copied || n === copied) continue;
        values[n] = { ...value, kind: 'view', of: target };
      }
      values[copied] = { kind: 'view', of: target, desc: values[copied].desc };
    } else steps.push(step);
    for (const value of touched(step)) used.add(ownerOf(value, values));
  }
  return { values, steps };
}

/** The temporary of which a step copies all elements, in their order, to an output; null for other steps. */
function copiedTemporary(step: PrimitiveStep, values: readonly ProgramValue[]): number | null {
  const [from, to] = [values[step.inputs[0]], values[step.outputs[0]]];
  if (to.kind !== 'output' || !isWholeCopy(step, values) || from.desc.dtype !== to.desc.dtype) return null;
  const owner = ownerOf(step.inputs[0], values);
  const { kind, desc } = values[owner];
  const isWhole = elementCount(desc.shape) === elementCount(to.desc.shape);
  return kind === 'temporary' && isWhole && isContiguous(desc.shape, desc.strides) ? owner : null;
}
