import type { InstructionDef, Machine } from '../machine.ts';
import type { Fault } from './fault.ts';
import { nearest } from './nearest.ts';
import type { IndexExpr, LineError, Operand, Program, Statement } from './program.ts';

/** A word of a line, with the column that it starts at. */
interface Word {
  readonly text: string;
  readonly column: number;
}

/** Thrown within this file only; `parseProgram` turns it into a `LineError`. */
class LineFault extends Error {
  readonly word: Word;
  readonly fault: Fault;
  constructor(word: Word, fault: Fault) {
    super(fault.kind);
    this.word = word;
    this.fault = fault;
  }
}

interface OpenLoop {
  readonly loop: Omit<Statement & { kind: 'loop' }, 'body' | 'kind'>;
  readonly body: Statement[];
}

/**
 * Reads a program: one instruction a line, operands separated by commas, `;` or `#` before a comment, and
 * `FOR i = 1 TO n-1` … `END` around lines to repeat (`STEP 2` moves i by two). Case does not matter. Each
 * wrong line gives one error.
 */
export function parseProgram<V>(text: string, machine: Machine<V>): Program {
  const errors: LineError[] = [];
  const top: Statement[] = [];
  const open: OpenLoop[] = [];
  text.split('\n').forEach((source, n) => {
    const line = n + 1;
    const code = source.replace(/[;#].*$/, '');
    if (code.trim() === '') return;
    const into = open.at(-1)?.body ?? top;
    try {
      const head = wordAt(code, /\S+/);
      const at = { line, column: head.column, length: code.trim().length };
      const keyword = head.text.toUpperCase();
      if (keyword === 'FOR') {
        open.push({ loop: { at, ...parseLoop(code, machine, open) }, body: [] });
      } else if (keyword === 'END') {
        const closed = open.pop();
        if (!closed) throw new LineFault(head, { kind: 'end-without-for' });
        const outer = open.at(-1)?.body ?? top;
        outer.push({ kind: 'loop', ...closed.loop, body: closed.body });
      } else {
        into.push({ kind: 'instruction', at, ...parseInstruction(code, head, machine, open) });
      }
    } catch (error) {
      if (!(error instanceof LineFault)) throw error;
      const { column, text: at } = error.word;
      errors.push({ line, column, length: Math.max(1, at.length), fault: error.fault });
    }
  });
  for (const { loop } of open) errors.push({ ...loop.at, fault: { kind: 'for-without-end' } });
  return { statements: top, errors: errors.sort((a, b) => a.line - b.line) };
}

function wordAt(code: string, pattern: RegExp): Word {
  const found = pattern.exec(code);
  return { text: found?.[0] ?? '', column: (found?.index ?? 0) + 1 };
}

function parseLoop<V>(
  code: string,
  machine: Machine<V>,
  open: readonly OpenLoop[],
): { variable: string; from: IndexExpr; to: IndexExpr; step: number } {
  const parts = /^\s*for\s+([a-z]\w*)\s*=\s*(.+?)\s+to\s+(.+?)(?:\s+step\s+([1-9]\d?))?\s*$/i.exec(code);
  if (!parts) throw new LineFault(wordAt(code, /\S+/), { kind: 'no-loop' });
  const [, variable = '', from = '', to = '', step = '1'] = parts;
  const name = variable.toLowerCase();
  const word = { text: variable, column: code.indexOf(variable, code.search(/for/i) + 3) + 1 };
  if (name === 'n' || variables(open).includes(name))
    throw new LineFault(word, { kind: 'variable-taken', written: variable });
  const bound = (text: string): IndexExpr =>
    parseIndex({ text, column: code.lastIndexOf(text) + 1 }, machine, open);
  return { variable: name, from: bound(from), to: bound(to), step: Number(step) };
}

const variables = (open: readonly OpenLoop[]): string[] => open.map(({ loop }) => loop.variable);

function parseInstruction<V>(
  code: string,
  head: Word,
  machine: Machine<V>,
  open: readonly OpenLoop[],
): { name: string; operands: Operand[] } {
  const { instructions } = machine;
  const def = instructions.find(({ name }) => name === head.text.toUpperCase());
  if (!def) {
    const names = instructions.map(({ name }) => name);
    const near = nearest(head.text, names);
    throw new LineFault(head, { kind: 'unknown-instruction', written: head.text, near, names });
  }
  const words = splitOperands(code, head.column - 1 + head.text.length);
  if (words.length !== def.operands.length) {
    const joined = words.find(({ text }) => /\S\s+\S/.test(text.replace(/\[[^\]]*\]/g, '[]')));
    if (joined && words.length < def.operands.length)
      throw new LineFault(joined, { kind: 'no-comma', usage: usage(def) });
    const where = words.at(-1) ?? head;
    const counts = { wanted: def.operands.length, got: words.length };
    throw new LineFault(where, { kind: 'operand-count', usage: usage(def), ...counts });
  }
  if (isSwapped(words, def, machine)) {
    const corrected = `${def.name} ${[...words]
      .reverse()
      .map(({ text }) => text)
      .join(', ')}`;
    throw new LineFault(words[0] ?? head, { kind: 'swapped-operands', usage: usage(def), corrected });
  }
  const operands = words.map((word, n) => {
    const kind = def.operands[n];
    if (kind?.kind === 'load' || kind?.kind === 'store') return parseCell(word, machine, open);
    return parseRegister(word, def, n, machine);
  });
  return { name: def.name, operands };
}

/** Whether a LOAD or STORE has its register and its cell swapped. */
function isSwapped<V>(words: readonly Word[], def: InstructionDef<V>, machine: Machine<V>): boolean {
  const isRegister = (word: Word): boolean => registerOf(word, machine) !== undefined;
  const isCell = (word: Word): boolean => /^[a-z]+(\[|\d)/i.test(word.text) && !isRegister(word);
  const takesCell = def.operands.map(({ kind }) => kind === 'load' || kind === 'store');
  return (
    takesCell.includes(true) && words.every((word, n) => (takesCell[n] ? isRegister(word) : isCell(word)))
  );
}

/** The register that a word names, if any. */
function registerOf<V>({ text }: Word, { registers }: Machine<V>): string | undefined {
  return registers.find(register => register.toLowerCase() === text.toLowerCase());
}

const usage = <V>({ name, signature }: InstructionDef<V>): string => `${name} ${signature.join(', ')}`;

function splitOperands(code: string, from: number): Word[] {
  const rest = code.slice(from);
  if (rest.trim() === '') return [];
  let at = from;
  return rest.split(',').map(part => {
    const column = at + (part.length - part.trimStart().length) + 1;
    at += part.length + 1;
    return { text: part.trim(), column };
  });
}

function parseRegister<V>(word: Word, def: InstructionDef<V>, n: number, machine: Machine<V>): Operand {
  const name = registerOf(word, machine);
  const kind = def.operands[n];
  if (!name) {
    const isCell = /\[/.test(word.text);
    throw new LineFault(
      word,
      isCell
        ? { kind: 'cell-as-register', instruction: def.name, written: word.text }
        : { kind: 'unknown-register', written: word.text, names: machine.registers },
    );
  }
  if (kind?.kind === 'fixed' && kind.register !== name) {
    const registers = { wanted: kind.register, got: name };
    throw new LineFault(word, { kind: 'wired-register', ...registers, usage: usage(def) });
  }
  return { kind: 'register', name };
}

function parseCell<V>(word: Word, machine: Machine<V>, open: readonly OpenLoop[]): Operand {
  const { memory } = machine;
  const names = memory.map(({ name }) => name);
  const parts = /^([a-z]+)((?:\[[^\]]*\])+|\d+)$/i.exec(word.text);
  // The name of a register, such as R1, has the form of a cell, such as c01.
  if (!parts || registerOf(word, machine))
    throw new LineFault(word, { kind: 'no-cell', written: word.text, example: example(machine) });
  const [, written = '', indices = ''] = parts;
  const region = memory.find(({ name }) => name.toLowerCase() === written.toLowerCase());
  // A name without brackets, such as R9, may be meant as a register.
  if (!region && !indices.startsWith('['))
    throw new LineFault(word, { kind: 'no-cell', written: word.text, example: example(machine) });
  if (!region) throw new LineFault(word, { kind: 'unknown-region', written, names });
  // c01 is short for c[0][1].
  const texts = indices.startsWith('[')
    ? [...indices.matchAll(/\[([^\]]*)\]/g)].map(([, index = '']) => index)
    : [...indices];
  if (texts.length !== region.shape.length) {
    const counts = { wanted: region.shape.length, got: texts.length };
    throw new LineFault(word, { kind: 'index-count', region: region.name, ...counts });
  }
  const index = texts.map(text => parseIndex({ text, column: word.column }, machine, open));
  index.forEach(({ variable, add }, d) => {
    const extent = region.shape[d] ?? 0;
    if (variable === null && (add < 0 || add >= extent)) {
      throw new LineFault(word, { kind: 'index-outside', index: add, last: extent - 1 });
    }
  });
  return { kind: 'cell', region: region.name, index };
}

function example<V>({ memory }: Machine<V>): string {
  const [first] = memory;
  return first ? `${first.name}${first.shape.map(() => '[0]').join('')}` : '';
}

function parseIndex<V>(word: Word, machine: Machine<V>, open: readonly OpenLoop[]): IndexExpr {
  const parts = /^\s*(?:(\d+)|([a-z]\w*)\s*(?:([+-])\s*(\d+))?)\s*$/i.exec(word.text);
  if (!parts) throw new LineFault(word, { kind: 'no-index', written: word.text });
  const [, number, variable, sign, offset] = parts;
  if (number !== undefined) return { variable: null, add: Number(number) };
  const name = variable?.toLowerCase() ?? '';
  const known = [...variables(open), ...(machine.n === undefined ? [] : ['n'])];
  if (!known.includes(name)) throw new LineFault(word, { kind: 'no-variable', written: name });
  return { variable: name, add: (sign === '-' ? -1 : 1) * Number(offset ?? 0) };
}
