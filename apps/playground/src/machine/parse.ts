import type { InstructionDef, Machine } from './machine.ts';
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
  constructor(word: Word, message: string) {
    super(message);
    this.word = word;
  }
}

interface OpenLoop {
  readonly loop: Omit<Statement & { kind: 'loop' }, 'body' | 'kind'>;
  readonly body: Statement[];
  readonly at: Word;
}

/**
 * Reads a program: one instruction a line, operands separated by commas, `;` or `#` before a comment, and
 * `FOR i = 1 TO n-1` … `END` around lines to repeat. Case does not matter. Each wrong line gives one error.
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
      const keyword = head.text.toUpperCase();
      if (keyword === 'FOR') {
        open.push({ loop: { line, ...parseLoop(code, machine, open) }, body: [], at: head });
      } else if (keyword === 'END') {
        const closed = open.pop();
        if (!closed) throw new LineFault(head, 'END without a FOR before it');
        const outer = open.at(-1)?.body ?? top;
        outer.push({ kind: 'loop', ...closed.loop, body: closed.body });
      } else {
        into.push({ kind: 'instruction', line, ...parseInstruction(code, head, machine, open) });
      }
    } catch (fault) {
      if (!(fault instanceof LineFault)) throw fault;
      const { column, text: at } = fault.word;
      errors.push({ line, column, length: Math.max(1, at.length), message: fault.message });
    }
  });
  for (const { loop, at } of open) {
    errors.push({ line: loop.line, column: at.column, length: 3, message: 'FOR without an END after it' });
  }
  return { statements: top, errors };
}

function wordAt(code: string, pattern: RegExp): Word {
  const found = pattern.exec(code);
  return { text: found?.[0] ?? '', column: (found?.index ?? 0) + 1 };
}

function parseLoop<V>(
  code: string,
  machine: Machine<V>,
  open: readonly OpenLoop[],
): { variable: string; from: IndexExpr; to: IndexExpr } {
  const parts = /^\s*for\s+([a-z]\w*)\s*=\s*(.+?)\s+to\s+(.+?)\s*$/i.exec(code);
  if (!parts) throw new LineFault(wordAt(code, /\S+/), 'a loop reads: FOR i = 1 TO n-1');
  const [, variable = '', from = '', to = ''] = parts;
  const name = variable.toLowerCase();
  const word = { text: variable, column: code.indexOf(variable, code.search(/for/i) + 3) + 1 };
  if (name === 'n' || variables(open).includes(name))
    throw new LineFault(word, `'${variable}' is already taken`);
  const bound = (text: string): IndexExpr =>
    parseIndex({ text, column: code.lastIndexOf(text) + 1 }, machine, open);
  return { variable: name, from: bound(from), to: bound(to) };
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
    const hint = near ? `; did you mean ${near}?` : `; this machine has ${names.join(', ')}`;
    throw new LineFault(head, `there is no instruction '${head.text}'${hint}`);
  }
  const words = splitOperands(code, head.column - 1 + head.text.length);
  if (words.length !== def.operands.length) {
    const where = words.at(-1) ?? head;
    throw new LineFault(where, `${usage(def)} takes ${def.operands.length} operands, got ${words.length}`);
  }
  const operands = words.map((word, n) => {
    const kind = def.operands[n];
    if (kind?.kind === 'load' || kind?.kind === 'store') return parseCell(word, machine, open);
    return parseRegister(word, def, n, machine);
  });
  return { name: def.name, operands };
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

function parseRegister<V>(word: Word, def: InstructionDef<V>, n: number, { registers }: Machine<V>): Operand {
  const name = registers.find(register => register.toLowerCase() === word.text.toLowerCase());
  const kind = def.operands[n];
  if (!name) {
    const isCell = /\[/.test(word.text);
    throw new LineFault(
      word,
      isCell
        ? `${def.name} works on registers; LOAD '${word.text}' into one first`
        : `there is no register '${word.text}'; this machine has ${registers.join(', ')}`,
    );
  }
  if (kind?.kind === 'fixed' && kind.register !== name) {
    throw new LineFault(word, `the multiplier reads ${kind.register} here, got ${name}: ${usage(def)}`);
  }
  return { kind: 'register', name };
}

function parseCell<V>(word: Word, machine: Machine<V>, open: readonly OpenLoop[]): Operand {
  const { memory } = machine;
  const names = memory.map(({ name }) => name).join(', ');
  const parts = /^([a-z]+)((?:\[[^\]]*\])+|\d+)$/i.exec(word.text);
  if (!parts)
    throw new LineFault(word, `must be a cell of DRAM such as ${example(machine)}, got '${word.text}'`);
  const [, written = '', indices = ''] = parts;
  const region = memory.find(({ name }) => name.toLowerCase() === written.toLowerCase());
  if (!region) throw new LineFault(word, `there is no '${written}' in DRAM, which holds ${names}`);
  // c01 is short for c[0][1].
  const texts = indices.startsWith('[')
    ? [...indices.matchAll(/\[([^\]]*)\]/g)].map(([, index = '']) => index)
    : [...indices];
  if (texts.length !== region.shape.length) {
    throw new LineFault(word, `'${region.name}' has ${region.shape.length} indices, got ${texts.length}`);
  }
  const index = texts.map(text => parseIndex({ text, column: word.column }, machine, open));
  index.forEach(({ variable, add }, d) => {
    const extent = region.shape[d] ?? 0;
    if (variable === null && (add < 0 || add >= extent)) {
      throw new LineFault(word, `index ${add} is outside 0 to ${extent - 1}`);
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
  if (!parts) throw new LineFault(word, `must be an index such as 0, i or n-1, got '${word.text}'`);
  const [, number, variable, sign, offset] = parts;
  if (number !== undefined) return { variable: null, add: Number(number) };
  const name = variable?.toLowerCase() ?? '';
  const known = [...variables(open), ...(machine.n === undefined ? [] : ['n'])];
  if (!known.includes(name)) throw new LineFault(word, `'${variable}' is no loop variable here`);
  return { variable: name, add: (sign === '-' ? -1 : 1) * Number(offset ?? 0) };
}
