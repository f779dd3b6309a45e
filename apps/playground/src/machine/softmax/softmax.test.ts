import { describe, expect, it } from 'vitest';
import { isSolved, type Problem } from '../check.ts';
import { parseProgram } from '../parse.ts';
import { runProgram } from '../run.ts';
import { softmaxMachine } from './softmax-machine.ts';
import { overflowingSolution, softmaxProblems } from './softmax-problems.ts';

const run = (source: string, registers: number, x: readonly number[]) => {
  const machine = softmaxMachine(registers, x);
  const program = parseProgram(source, machine);
  expect(program.errors).toEqual([]);
  return runProgram(program, machine);
};

const problemOf = (id: string) => {
  const problem = softmaxProblems.find(p => p.id === id);
  if (!problem) throw new Error(`no problem ${id}`);
  return problem;
};

describe.each(softmaxProblems)('$id', problem => {
  it.each([1, 2, 3, 8, 50])('is solved by the shown program for n = %i, with the known traffic', n => {
    const x = Array.from({ length: n }, (_, i) => Math.sin(i * 7) * 9);
    const trace = run(problem.solution, problem.registers, x);
    expect(isSolved(problem, trace)).toBe(true);
    expect(trace.steps.at(-1)?.counts).toMatchObject({ loads: problem.reads(n), stores: problem.writes(n) });
  });

  it('stays finite where exp alone overflows', () => {
    expect(isSolved(problem, run(problem.solution, problem.registers, [100, 200, -300, 199]))).toBe(true);
  });
});

describe('exp(a) / exp(b) instead of exp(a − b)', () => {
  const problem = problemOf('online-softmax');
  it('is right for small numbers', () => {
    expect(isSolved(problem, run(overflowingSolution, 4, [1, 2, -3, 0]))).toBe(true);
  });

  it('overflows f32 at x = 100, and is caught', () => {
    const trace = run(overflowingSolution, 4, [100, 2, -3, 0]);
    expect(problem.criteria(trace)[0]).toMatchObject({ met: false, found: { kind: 'holds', value: 'NaN' } });
  });
});

it('does not take three passes for two', () => {
  const online: Problem<number> = problemOf('online-softmax');
  const found = online.criteria(run(problemOf('safe-softmax').solution, 4, [1, 2, 3, 4]));
  expect(found.filter(({ met }) => !met)).toEqual([
    { demand: { kind: 'reads', most: 8 }, met: false, found: { kind: 'count', count: 12 } },
  ]);
});
