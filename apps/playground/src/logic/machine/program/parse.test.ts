import { describe, expect, it } from 'vitest';
import { en } from '../../../text/en/index.ts';
import { say } from '../../../text/say.ts';
import { matrixMachine } from '../matrix/matrix-machine.ts';
import { runProgram } from '../run.ts';
import { completionsFor } from './completion.ts';
import { parseProgram } from './parse.ts';
import type { LineError } from './program.ts';

const machine = matrixMachine(3);
const errorsOf = (source: string) => parseProgram(source, machine).errors;
const inEnglish = ({ fault }: LineError): string => say(fault, en.bench.faults);

describe('a program that is wrong', () => {
  it.each([
    ['LAOD a[0][0], R0', 1, 'there is no instruction ‘LAOD’; did you mean LOAD?'],
    ['LOAD a[0][0]', 6, 'LOAD src, Rd takes 2 operands, not 1'],
    ['LOAD a[0][0] R0', 6, 'put a comma between operands: LOAD src, Rd'],
    ['LOAD a[ 0 ][0]', 6, 'LOAD src, Rd takes 2 operands, not 1'],
    ['LOAD a[0][2], R0', 6, 'index 2 is outside 0 to 1'],
    ['LOAD d[0][0], R0', 6, 'there is no ‘d’ in DRAM, which holds a, b, c'],
    ['LOAD R0, R1', 6, 'there must be a cell of DRAM here, such as a[0][0], not ‘R0’'],
    ['LOAD R9, a[0][0]', 6, 'there must be a cell of DRAM here, such as a[0][0], not ‘R9’'],
    ['LOAD q, R0', 6, 'there must be a cell of DRAM here, such as a[0][0], not ‘q’'],
    ['LOAD a[0][], R0', 6, 'there must be an index here, such as 0, i or n-1, not ‘’'],
    ['LOAD a[0], R0', 6, '‘a’ has 2 indices, not 1'],
    ['LOAD a[0][0], R3', 15, 'there is no register ‘R3’; this machine has R0, R1, R2'],
    ['MAC_Z R1, R0, R2', 7, 'the multiplier reads R0 here, not R1: MAC_Z R0, R1, Rd'],
    ['STORE a[0][0], c[0][0]', 7, 'STORE works on registers; LOAD ‘a[0][0]’ into one first'],
    ['LOAD R0, a[0][0]', 6, 'the operands are swapped: write LOAD a[0][0], R0 (LOAD src, Rd)'],
    ['STORE c[0][0], R2', 7, 'the operands are swapped: write STORE R2, c[0][0] (STORE Rs, dst)'],
    ['END', 1, 'END without a FOR before it'],
    ['FOR i = 0 TO 1', 1, 'FOR without an END after it'],
    ['LOAD a[i][0], R0', 6, '‘i’ is not a loop variable here'],
  ])('%s: reports the error and its line', (source, column, message) => {
    const errors = errorsOf(source);
    expect(errors).toMatchObject([{ line: 1, column }]);
    expect(errors.map(inEnglish)).toEqual([message]);
  });

  it('gives one error for each wrong line, with its number', () => {
    expect(errorsOf('LOAD a00, R0\nNOPE\n\n; a comment\nLOAD').map(({ line }) => line)).toEqual([2, 5]);
  });

  it('lists the errors in the order of lines', () => {
    expect(errorsOf('FOR i = 0 TO 1\nNOPE').map(({ line }) => line)).toEqual([1, 2]);
  });

  it('stops where an empty register is read, and marks the whole instruction', () => {
    const run = runProgram(parseProgram('LOAD a00, R0\n  MAC_Z R0, R1, R2 ; s', machine), machine);
    expect(run.steps).toHaveLength(1);
    expect(run.error).toMatchObject({
      line: 2,
      column: 3,
      length: 16,
      fault: { kind: 'empty', place: 'R1' },
    });
  });
});

describe('a loop', () => {
  it('repeats its lines and ends where it says', () => {
    const run = runProgram(
      parseProgram('for i = 0 to 1\n for j = 0 to 1\n  load a[i][j], r0\n end\nend', machine),
      machine,
    );
    expect(run.steps.map(({ text }) => text)).toEqual([
      'LOAD a[0][0], R0',
      'LOAD a[0][1], R0',
      'LOAD a[1][0], R0',
      'LOAD a[1][1], R0',
    ]);
  });

  it('that leaves the array stops the program', () => {
    const run = runProgram(parseProgram('FOR i = 0 TO 5\nLOAD a[i][0], R0\nEND', machine), machine);
    expect(run.error?.fault).toEqual({ kind: 'cell-outside', cell: 'a[2][0]' });
  });

  it('without end is stopped', () => {
    const run = runProgram(parseProgram('FOR i = 0 TO 99999\nLOAD a00, R0\nEND', machine), machine);
    expect(run.error?.fault).toEqual({ kind: 'too-long', most: 10_000 });
  });

  it.each(['FOR i = 0 TO 9999999999\nEND', 'FOR i = 0 TO 99999\nFOR j = 1 TO 0\nLOAD a00, R0\nEND\nEND'])(
    'without a step that runs is stopped: %j',
    text => {
      const { steps, error } = runProgram(parseProgram(text, machine), machine);
      expect(steps).toEqual([]);
      expect(error).toMatchObject({ line: 1, fault: { kind: 'too-long', most: 10_000 } });
    },
  );
});

describe('completion', () => {
  it('offers instructions at the start of a line', () => {
    const { options, replace } = completionsFor('  MA', machine);
    expect(options.map(({ label }) => label)).toEqual(['MAC_Z', 'MAC']);
    expect(replace).toBe(2);
  });

  it('offers nothing for a complete word, so that Enter ends the line', () => {
    expect(completionsFor('LOAD a[0][0], R0', machine).options).toEqual([]);
    expect(completionsFor('MAC', machine).options).toHaveLength(2);
  });

  it('offers what the operand may be', () => {
    expect(completionsFor('LOAD b', machine).options).toHaveLength(4);
    expect(completionsFor('LOAD a00, ', machine).options.map(({ label }) => label)).toEqual([
      'R0',
      'R1',
      'R2',
    ]);
    expect(completionsFor('MAC R0, ', machine).options.map(({ label }) => label)).toEqual(['R1']);
  });
});
