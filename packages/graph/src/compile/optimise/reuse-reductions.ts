import { type Program, type Step, valuesByOwner } from '../../ir/program/program.ts';
import { placeKey } from './placed-step.ts';

/**
 * Removes a reduction that repeats an earlier one, such as the row mean that the gradient of a norm needs
 * again. Results of reductions are small, so holding them longer takes little memory.
 */
export function reuseReductions(program: Program): Program {
  const values = [...program.values];
  const byOwner = valuesByOwner(values);
  const known = new Map<string, number>();
  const steps: Step[] = [];
  for (const step of program.steps) {
    const isReduction = step.kind === 'primitive' && step.primitive.kind === 'reduce';
    const [output] = isReduction ? step.outputs : [];
    if (!isReduction || values[output].kind !== 'temporary') {
      steps.push(step);
      continue;
    }
    const { dtype, shape } = values[output].desc;
    const inputs = step.inputs.map(value => placeKey(value, values));
    const key = JSON.stringify([step.primitive, inputs, dtype, shape]);
    const earlier = known.get(key);
    if (earlier === undefined) {
      known.set(key, output);
      steps.push(step);
    } else {
      // The value and its views become views of the earlier result, which has the same shape.
      for (const n of byOwner.get(output) ?? []) values[n] = { ...values[n], kind: 'view', of: earlier };
    }
  }
  return { values, steps };
}
