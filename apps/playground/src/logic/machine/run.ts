import { cellName, type InstructionDef, indices, type Machine } from './machine.ts';
import type { Fault } from './program/fault.ts';
import type { IndexExpr, LineError, Operand, Program, Span, Statement } from './program/program.ts';

/** Values of the registers and of DRAM, by name; a cell or register without a value is absent. */
export interface MachineState<V> {
  readonly registers: ReadonlyMap<string, V>;
  readonly memory: ReadonlyMap<string, V>;
}

/** How many instructions of each kind have run. Every instruction is one cycle. */
export interface Counts {
  readonly loads: number;
  readonly stores: number;
  /** The instructions that are neither reads nor writes: the compute unit's work. */
  readonly computes: number;
  readonly cycles: number;
}

/** One executed instruction, and the machine before and after it. */
export interface Step<V> {
  readonly line: number;
  readonly text: string;
  readonly reads: readonly string[];
  readonly writes: string;
  readonly before: MachineState<V>;
  readonly state: MachineState<V>;
  readonly counts: Counts;
}

/** A whole run. If it ends with an error, the steps are those before the error. */
export interface Run<V> {
  readonly machine: Machine<V>;
  readonly start: MachineState<V>;
  readonly steps: readonly Step<V>[];
  readonly error: LineError | null;
}

/**
 * More steps than any exercise needs; a program that takes more is stopped. So is one whose loops repeat more
 * often without a step, such as a loop that is still empty while the visitor types.
 */
const maxSteps = 10_000;

const none: Counts = { loads: 0, stores: 0, computes: 0, cycles: 0 };

/**
 * Runs a program without errors from the machine's initial state. A run-time fault becomes the run's `error`.
 */
export function runProgram<V>({ statements }: Program, machine: Machine<V>): Run<V> {
  const start: MachineState<V> = { registers: new Map(), memory: initialMemory(machine) };
  const steps: Step<V>[] = [];
  /** Repetitions of loops in which no instruction ran. */
  let idle = 0;
  const variables = new Map<string, number>(machine.n === undefined ? [] : [['n', machine.n]]);
  const indexOf = ({ variable, add }: IndexExpr): number =>
    add + (variable === null ? 0 : (variables.get(variable) ?? 0));
  const fail = (at: Span, fault: Fault): LineError => ({ ...at, fault });

  const execute = (statement: Statement): LineError | null => {
    if (statement.kind === 'loop') {
      const last = indexOf(statement.to);
      for (let i = indexOf(statement.from); i <= last; i += statement.step) {
        variables.set(statement.variable, i);
        const before = steps.length;
        const error = executeAll(statement.body);
        if (error) return error;
        if (steps.length === before && ++idle > maxSteps)
          return fail(statement.at, { kind: 'too-long', most: maxSteps });
      }
      return null;
    }
    const { at } = statement;
    if (steps.length >= maxSteps) return fail(at, { kind: 'too-long', most: maxSteps });
    const def = machine.instructions.find(({ name }) => name === statement.name);
    if (!def)
      throw new Error(
        `The parser accepted an instruction that this machine does not have: ${statement.name}.`,
      );
    const places = statement.operands.map(operand => placeOf(operand, indexOf));
    const outside = places.find((place, n) => isCell(statement.operands[n]) && !isInside(machine, place));
    if (outside !== undefined) return fail(at, { kind: 'cell-outside', cell: outside });
    const before = steps.at(-1) ?? { state: start, counts: none };
    const outcome = step(def, places, before.state);
    if ('empty' in outcome) return fail(at, { kind: 'empty', place: outcome.empty });
    const text = `${def.name} ${places.join(', ')}`;
    steps.push({
      line: at.line,
      text,
      before: before.state,
      ...outcome,
      counts: counted(before.counts, def),
    });
    return null;
  };
  const executeAll = (all: readonly Statement[]): LineError | null => {
    for (const statement of all) {
      const error = execute(statement);
      if (error) return error;
    }
    return null;
  };

  const error = executeAll(statements);
  return { machine, start, steps, error };
}

function initialMemory<V>({ memory }: Machine<V>): Map<string, V> {
  const cells = new Map<string, V>();
  for (const { name, shape, initial } of memory) {
    for (const index of indices(shape)) {
      const value = initial(index);
      if (value !== undefined) cells.set(cellName(name, index), value);
    }
  }
  return cells;
}

const isCell = (operand: Operand | undefined): boolean => operand?.kind === 'cell';

function placeOf(operand: Operand, indexOf: (index: IndexExpr) => number): string {
  return operand.kind === 'register' ? operand.name : cellName(operand.region, operand.index.map(indexOf));
}

function isInside<V>({ memory }: Machine<V>, place: string): boolean {
  return memory.some(({ name, shape }) => indices(shape).some(index => cellName(name, index) === place));
}

/** Executes one instruction; returns the name of an empty operand if the instruction reads one. */
function step<V>(
  def: InstructionDef<V>,
  places: readonly string[],
  { registers, memory }: MachineState<V>,
): { reads: string[]; writes: string; state: MachineState<V> } | { empty: string } {
  const reads: string[] = [];
  const values: V[] = [];
  let writes = '';
  let toMemory = false;
  for (const [n, { kind }] of def.operands.entries()) {
    const place = places[n] ?? '';
    if (kind === 'target' || kind === 'store') {
      writes = place;
      toMemory = kind === 'store';
      continue;
    }
    const value = (kind === 'load' ? memory : registers).get(place);
    if (value === undefined) return { empty: place };
    reads.push(place);
    values.push(value);
  }
  const result = def.apply(values);
  const put = (cells: ReadonlyMap<string, V>): Map<string, V> => new Map(cells).set(writes, result);
  const state = toMemory ? { registers, memory: put(memory) } : { registers: put(registers), memory };
  return { reads, writes, state };
}

function counted<V>(before: Counts, { operands }: InstructionDef<V>): Counts {
  const loads = operands.some(({ kind }) => kind === 'load') ? 1 : 0;
  const stores = operands.some(({ kind }) => kind === 'store') ? 1 : 0;
  return {
    loads: before.loads + loads,
    stores: before.stores + stores,
    computes: before.computes + 1 - loads - stores,
    cycles: before.cycles + 1,
  };
}
