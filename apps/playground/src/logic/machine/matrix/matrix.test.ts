import { describe, expect, it } from 'vitest';
import { assess } from '../check.ts';
import { parseProgram } from '../program/parse.ts';
import { runProgram } from '../run.ts';
import { matrixMachine, type Wiring } from './matrix-machine.ts';
import { fewestCycles, matrixProblems } from './matrix-problems.ts';

const run = (source: string, registers = 3, wiring: Wiring = 'fixed') => {
  const machine = matrixMachine(registers, wiring);
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
    expect(assess(problem, problem.solution, matrixMachine(problem.registers)).solved).toBe(true);
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
    const wrong = problem.solution.replace('LOAD b[1][0], R1', 'LOAD b[0][1], R1');
    const { solved, criteria } = assess(problem, wrong, matrixMachine(3));
    expect(solved).toBe(false);
    expect(criteria[0]?.found).toMatchObject({ kind: 'holds', value: 'a₀₀b₀₀ + a₀₁b₀₁' });
  });

  it('has no requirement that an empty program meets', () => {
    for (const problem of matrixProblems)
      expect(assess(problem, '', matrixMachine(problem.registers)).criteria.some(({ met }) => met)).toBe(
        false,
      );
  });

  it('lets no exercise ask for fewer cycles than is possible', () => {
    expect(fewestCycles.fixed[3]).toBe(25);
    expect(fewestCycles.fixed[6]).toBe(22);
  });

  it('asks machines with fewer registers for the cycles that they can reach', () => {
    const outer = matrixProblems.find(({ id }) => id === 'outer-product');
    const demands = outer?.criteria(run('', 4)).map(({ demand }) => demand);
    expect(demands?.at(-1)).toEqual({ kind: 'cycles', most: 23 });
  });

  it('loads every number once when six registers may all feed the multiplier, even element by element', () => {
    const source = `LOAD a00, R0\nLOAD b00, R1\nMAC_Z R0, R1, R5\nLOAD a01, R2\nLOAD b10, R3\nMAC R2, R3, R5, R5\nSTORE R5, c00
       LOAD b01, R4\nMAC_Z R0, R4, R5\nLOAD b11, R0\nMAC R2, R0, R5, R5\nSTORE R5, c01
       LOAD a10, R2\nMAC_Z R2, R4, R5\nLOAD a11, R4\nMAC R4, R0, R5, R5\nSTORE R5, c11
       MAC_Z R2, R1, R5\nMAC R4, R3, R5, R5\nSTORE R5, c10`;
    const trace = run(source, 6, 'any');
    expect(trace.steps.at(-1)?.counts).toEqual({
      loads: 8,
      computes: 8,
      stores: 4,
      cycles: fewestCycles.any[6],
    });
    const whole = matrixProblems.find(({ id }) => id === 'outer-product');
    expect(whole && assess(whole, source, matrixMachine(6, 'any')).solved).toBe(true);
  });
});
