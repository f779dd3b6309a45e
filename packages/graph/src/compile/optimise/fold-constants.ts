import { elementCount } from '@tilewise/core';
import { constant } from '@tilewise/core/expr';
import { ownerOf, type Program, type ProgramValue, type Step } from '../../ir/program/program.ts';
import { expressionOf, isPlaced, nameAmong, withExpression, withInputs } from './placed-step.ts';

/**
 * Inlines constants of one element into the expressions that read them, so that no tensor is bound for them.
 */
export function foldConstants({ values, steps }: Program): Program {
  return { values, steps: steps.map(step => withConstants(step, values)) };
}

function withConstants(step: Step, values: readonly ProgramValue[]): Step {
  if (!isPlaced(step) || !step.inputs.some(value => numberOf(value, values) !== null)) return step;
  const inputs: number[] = [];
  const value = withInputs(expressionOf(step), step.inputs.length, (at, load) => {
    const number = numberOf(step.inputs[at], values);
    if (number !== null && load.index.length === 0) return constant(number);
    return { ...load, name: nameAmong(step.inputs[at], inputs) };
  });
  return value === null || inputs.length === 0 ? step : withExpression(step, value, inputs);
}

/** The number of a value that is one constant f32; null for any other value. */
function numberOf(value: number, values: readonly ProgramValue[]): number | null {
  const owner = values[ownerOf(value, values)];
  if (owner.kind !== 'constant' || owner.desc.dtype !== 'f32' || elementCount(owner.desc.shape) !== 1)
    return null;
  const [number] = owner.data.toFloat64();
  return Number.isFinite(number) ? number : null;
}
