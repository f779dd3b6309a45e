import type { Program, Step } from '../../../ir/program/program.ts';
import { isWholeCopy } from '../placed-step.ts';
import { copyOf, usesOf, writeInPlace } from './copies-as-views.ts';

/**
 * Removes copies of whole temporaries to outputs: the steps that use the temporary use the output's memory
 * instead. For host engines: for the reference in place of `copiesAsViews`, and for the CPU engine after it,
 * because other passes make such copies too.
 */
export function writeOutputs(program: Program): Program {
  const values = [...program.values];
  const steps: Step[] = [];
  const uses = usesOf(program);
  for (const step of program.steps) {
    const isWhole = step.kind === 'primitive' && isWholeCopy(step, values);
    const copy = isWhole ? copyOf(step, values) : null;
    const isToOutput = copy && values[copy.target].kind === 'output';
    if (!isToOutput || !writeInPlace(copy, values, uses)) steps.push(step);
  }
  return { values, steps };
}
