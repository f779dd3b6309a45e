import { cellName, indices, type Machine } from '../machine.ts';

/** A text that may follow at the cursor, and its meaning. */
export interface Completion {
  readonly label: string;
  readonly what:
    | { readonly kind: 'instruction'; readonly signature: string; readonly meaning: string }
    | { readonly kind: 'for' | 'end' | 'wired' | 'cell' | 'register' };
}

/** The completions of `before`, the text of a line up to the cursor, and how many characters they replace. */
export function completionsFor<V>(
  before: string,
  machine: Machine<V>,
): { readonly replace: number; readonly options: readonly Completion[] } {
  const typed = /[\w[\]]*$/.exec(before)?.[0] ?? '';
  const lead = before.slice(0, before.length - typed.length);
  const options = lead.trim() === '' ? instructionNames(machine) : operandNames(lead, machine);
  const matching = options.filter(({ label }) => label.toLowerCase().startsWith(typed.toLowerCase()));
  // A complete word needs no completion, so Enter ends the line.
  const whole = matching.length === 1 && matching[0]?.label.toLowerCase() === typed.toLowerCase();
  return { replace: typed.length, options: whole ? [] : matching };
}

function instructionNames<V>({ instructions, n }: Machine<V>): Completion[] {
  const names = instructions.map(({ name, signature, meaning }) => ({
    label: name,
    what: { kind: 'instruction' as const, signature: signature.join(', '), meaning },
  }));
  if (n === undefined) return names;
  return [...names, { label: 'FOR', what: { kind: 'for' } }, { label: 'END', what: { kind: 'end' } }];
}

function operandNames<V>(lead: string, machine: Machine<V>): Completion[] {
  const name = lead.trim().split(/\s+/)[0]?.toUpperCase();
  const def = machine.instructions.find(instruction => instruction.name === name);
  const kind = def?.operands[lead.split(',').length - 1];
  switch (kind?.kind) {
    case undefined:
      return [];
    case 'fixed':
      return [{ label: kind.register, what: { kind: 'wired' } }];
    case 'load':
    case 'store':
      return machine.memory.flatMap(({ name: region, shape }) =>
        indices(shape).map(index => ({ label: cellName(region, index), what: { kind: 'cell' as const } })),
      );
    default:
      return machine.registers.map(label => ({ label, what: { kind: 'register' as const } }));
  }
}
