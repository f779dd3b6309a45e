import { describe, expect, it } from 'vitest';
import { isSolved } from '../check.ts';
import { parseProgram } from '../parse.ts';
import { runProgram } from '../run.ts';
import { matrixMachine } from './matrix-machine.ts';
import { fewestCycles, matrixProblems } from './matrix-problems.ts';

const run = (source: string, registers = 3) => {
  const machine = matrixMachine(registers);
  const program = parseProgram(source, machine);
  expect(program.errors).toEqual([]);
  return runProgram(program, machine);
};

describe('the matrix machine', () => {
  it.each([
    ['one-element', { loads: 4, computes: 2, stores: 1, cycles: 7 }],
    ['inner-product', { loads: 13, computes: 8, stores: 4, cycles: 25 }],
    ['outer-product', { loads: 10, computes: 8, stores: 4, cycles: 22 }],
  ])('solves %s with its shown program, in the known number of cycles', (id, counts) => {
    const problem = matrixProblems.find(p => p.id === id);
    if (!problem) throw new Error(`no problem ${id}`);
    const trace = run(problem.solution, problem.registers);
    expect(isSolved(problem, trace)).toBe(true);
    expect(trace.steps.at(-1)?.counts).toEqual(counts);
  });

  it('counts 28 cycles when nothing is reused', () => {
    const element = (i: number, j: number): string =>
      `LOAD a${i}0, R0\nLOAD b0${j}, R1\nMAC_Z R0, R1, R2\nLOAD a${i}1, R0\nLOAD b1${j}, R1\nMAC R0, R1, R2, R2\nSTORE R2, c${i}${j}`;
    const trace = run([element(0, 0), element(0, 1), element(1, 0), element(1, 1)].join('\n'));
    expect(trace.steps.at(-1)?.counts).toEqual({ loads: 16, computes: 8, stores: 4, cycles: 28 });
  });

  it('shows what registers hold as sums of products', () => {
    const trace = run(matrixProblems[0]?.solution ?? '');
    const machine = matrixMachine(3);
    const held = trace.steps.map(({ state }) => {
      const value = state.registers.get('R2');
      return value ? machine.format(value) : '';
    });
    expect(held).toEqual(['', '', 'a₀₀b₀₀', 'a₀₀b₀₀', 'a₀₀b₀₀', 'a₀₀b₀₀ + a₀₁b₁₀', 'a₀₀b₀₀ + a₀₁b₁₀']);
  });

  it('says what is wrong with a program that stores the wrong sum', () => {
    const [problem] = matrixProblems;
    if (!problem) throw new Error('no problem');
    const wrong = run(problem.solution.replace('LOAD b[1][0], R1', 'LOAD b[0][1], R1'));
    expect(isSolved(problem, wrong)).toBe(false);
    expect(problem.criteria(wrong)[0]?.found).toBe('it holds a₀₀b₀₀ + a₀₁b₀₁');
  });

  it('lets no exercise ask for fewer cycles than is possible', () => {
    expect(fewestCycles[3]).toBe(25);
    expect(fewestCycles[6]).toBe(22);
  });
});
