import { describe, expect, it } from 'vitest';
import { attentionNumbers, type Tokens } from '../../gradients/attention-numbers.ts';
import { assess } from '../check.ts';
import { parseProgram } from '../program/parse.ts';
import { runProgram } from '../run.ts';
import { attentionProblems, visibleMachine } from './attention-problems.ts';
import { machineFor, tokensOf } from './inputs.ts';

const problemOf = (id: string) => {
  const problem = attentionProblems.find(p => p.id === id);
  if (!problem) throw new Error(`no problem ${id}`);
  return problem;
};

const solved = (id: string, source: string, n = 4): boolean => {
  const problem = problemOf(id);
  return assess(problem, source, visibleMachine(problem, n)).solved;
};

describe.each(attentionProblems)('$id', problem => {
  it('is solved by the shown program, on the hidden inputs too', () => {
    const { criteria, program, run } = assess(problem, problem.solution, visibleMachine(problem, 4));
    expect(program.errors).toEqual([]);
    expect(run.error).toBeNull();
    expect(criteria.filter(({ met }) => !met)).toEqual([]);
  });

  it('is not solved by an empty program', () => {
    const { criteria } = assess(problem, '', visibleMachine(problem, 4));
    expect(criteria.filter(({ met }) => met)).toEqual([]);
  });
});

describe('a program that misses the lesson', () => {
  it('of one pass: without the maximum it overflows on a hidden input', () => {
    const source = problemOf('stream')
      .solution.replace('MAX r1, R0, r4', 'SUB r1, r1, r4')
      .replace(
        'LOAD x[0], r1\nSUB r1, r1, r2\nEXP r2, r2\nLOAD v[0], r3',
        'LOAD x[0], r1\nEXP r1, r2\nLOAD v[0], r3\nMUL r3, r2, r3\nSUB r1, r1, r1',
      );
    const problem = problemOf('stream');
    const { criteria, run } = assess(problem, source, visibleMachine(problem, 4));
    expect(problem.criteria(run).every(({ met }) => met)).toBe(true);
    expect(criteria.at(-1)).toMatchObject({ met: false, found: { kind: 'on-input' } });
  });

  it('of the merge: states that are added without their factors', () => {
    const plain = `LOAD d[0], r1\nLOAD num[0], r2\nFOR t = 1 TO n-1\nLOAD d[t], R0\nADD r1, R0, r1\nLOAD num[t], R0
ADD r2, R0, r2\nEND\nDIV r2, r1, r2\nSTORE r2, o[0]`;
    expect(solved('merge', plain)).toBe(false);
  });

  it('of keys outside: queries outside are right, but read K and V too often', () => {
    const problem = problemOf('keys-outside');
    const { criteria } = assess(problem, problemOf('queries-outside').solution, visibleMachine(problem, 4));
    expect(criteria.filter(({ met }) => !met).map(({ demand }) => demand.kind)).toEqual([
      'reads-of',
      'hidden',
    ]);
  });

  it('of two queries: one at a time reads K and V twice as often', () => {
    const problem = problemOf('two-queries');
    const { criteria } = assess(problem, problemOf('queries-outside').solution, visibleMachine(problem, 4));
    expect(criteria.find(({ demand }) => demand.kind === 'reads')).toMatchObject({
      met: false,
      found: { kind: 'count', count: 36 },
    });
  });

  it('of backward: D from P and dP takes two passes over K and V', () => {
    const late = `LOAD dO[0], r1\nLOAD q[0], r3\nLOAD lse[0], r4\nSUB r4, r4, r2\nSUB r3, r3, r5
FOR j = 0 TO n-1\nLOAD k[j], r6\nDOT r3, r6, R0\nSUB R0, r4, R0\nEXP R0, R0\nLOAD v[j], r7\nDOT r1, r7, r7
MUL R0, r7, R0\nADD r2, R0, r2\nEND
FOR j = 0 TO n-1\nLOAD k[j], r6\nDOT r3, r6, R0\nSUB R0, r4, R0\nEXP R0, R0\nLOAD v[j], r7\nDOT r1, r7, r7
SUB r7, r2, r7\nMUL R0, r7, R0\nMUL r6, R0, r6\nADD r5, r6, r5\nEND\nSTORE r5, dQ[0]`;
    const problem = problemOf('backward-row');
    const { criteria } = assess(problem, late, visibleMachine(problem, 4));
    expect(criteria.map(({ met }) => met)).toEqual([true, false, true, false]);
  });
});

describe('the numbers of attention', () => {
  it('have gradients that agree with finite differences', () => {
    const tokens = tokensOf([0.5, 1.9, -1.2, 3]);
    const loss = (moved: Tokens): number =>
      attentionNumbers(moved).O.reduce(
        (sum, row, i) => sum + row.reduce((part, o, c) => part + o * (tokens.dO[i]?.[c] ?? 0), 0),
        0,
      );
    const { dQ, dK, dV } = attentionNumbers(tokens);
    const step = 1e-5;
    for (const [name, gradient] of [
      ['q', dQ],
      ['k', dK],
      ['v', dV],
    ] as const) {
      for (const [i, row] of gradient.entries()) {
        for (const [c, wanted] of row.entries()) {
          const moved = (by: number): Tokens => ({
            ...tokens,
            [name]: tokens[name].map((r, a) => r.map((x, b) => (a === i && b === c ? x + by : x))),
          });
          expect((loss(moved(step)) - loss(moved(-step))) / (2 * step)).toBeCloseTo(wanted, 7);
        }
      }
    }
  });

  it('are f32 on the machine, and vectors that do not fit together are NaN', () => {
    const machine = machineFor('queries', 3, [1, 2]);
    const program = parseProgram('LOAD q[0], R0\nDOT R0, R0, r1\nDOT R0, r1, r2', machine);
    const { state } = runProgram(program, machine).steps.at(-1) ?? { state: null };
    expect(state?.registers.get('r1')).toEqual([4]);
    expect(state?.registers.get('r2')).toEqual([Number.NaN]);
  });
});
