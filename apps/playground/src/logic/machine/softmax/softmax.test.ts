import { describe, expect, it } from 'vitest';
import { assess, type Problem } from '../check.ts';
import { parseProgram } from '../program/parse.ts';
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
    expect(assess(problem, problem.solution, softmaxMachine(problem.registers, x)).solved).toBe(true);
    expect(trace.steps.at(-1)?.counts).toMatchObject({ loads: problem.reads(n), stores: problem.writes(n) });
  });

  it('stays finite where exp alone overflows', () => {
    const machine = softmaxMachine(problem.registers, [100, 200, -300, 199]);
    expect(assess(problem, problem.solution, machine).solved).toBe(true);
  });
});

describe('exp(a) / exp(b) instead of exp(a − b)', () => {
  const problem = problemOf('online-softmax');
  it('is right for small numbers', () => {
    expect(problem.criteria(run(overflowingSolution, 4, [1, 2, -3, 0])).every(({ met }) => met)).toBe(true);
  });

  it('is not accepted: it fails on a hidden input, which is named', () => {
    const { solved, criteria } = assess(problem, overflowingSolution, softmaxMachine(4, [1, 2, -3, 0]));
    expect(solved).toBe(false);
    expect(criteria.at(-1)).toMatchObject({
      demand: { kind: 'hidden' },
      found: { kind: 'on-input', input: 'x = (101.5, 99, 103, 100)', found: { kind: 'holds', value: 'NaN' } },
    });
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

describe('a program that is right on the visible input alone', () => {
  const visible = [0.5, 1.9, -1.2, 3];
  const withoutMaximum = `LOAD x[0], R0
EXP R0, R0
MOV R0, r2
FOR i = 1 TO n-1
  LOAD x[i], R0
  EXP R0, R0
  ADD r2, R0, r2
END
FOR i = 0 TO n-1
  LOAD x[i], R0
  EXP R0, R0
  DIV R0, r2, R0
  STORE R0, out[i]
END`;

  it.each(softmaxProblems)('$id: softmax without a maximum fails on large numbers', problem => {
    const { run, solved, criteria } = assess(
      problem,
      withoutMaximum,
      softmaxMachine(problem.registers, visible),
    );
    expect(problem.criteria(run).every(({ met }) => met)).toBe(true);
    expect(solved).toBe(false);
    expect(criteria.at(-1)?.met).toBe(false);
  });

  it('written for four numbers fails on one number', () => {
    const problem = problemOf('safe-softmax');
    const source = problem.solution.replaceAll('n-1', '3');
    const { solved, criteria } = assess(problem, source, softmaxMachine(3, visible));
    expect(solved).toBe(false);
    expect(criteria.at(-1)?.found).toEqual({ kind: 'on-input', input: 'x = (0.5)', found: null });
  });

  it('an empty program meets no demand', () => {
    const problem = problemOf('safe-softmax');
    expect(assess(problem, '', softmaxMachine(3, visible)).criteria.filter(({ met }) => met)).toEqual([]);
  });
});
