import { useSyncExternalStore } from 'react';
import { usePlace, useUrlState } from './url-state.ts';

/** The program of one exercise as this browser stores it, and the program that it replaced. */
interface KeptProgram {
  readonly text: string;
  /** The program that was there before a button or a link last replaced it; empty if there was none. */
  readonly replaced: string;
}

const keyOf = (exercise: string): string => `tilewise.program.${exercise}`;

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The stored text of an exercise; null if there is none or storage is forbidden. */
function stored(exercise: string): string | null {
  try {
    return localStorage.getItem(keyOf(exercise));
  } catch {
    return null;
  }
}

/**
 * Parses stored text; returns the starter if nothing is stored, or something that this page did not write.
 */
function parse(text: string | null, starter: string): KeptProgram {
  const nothing = { text: starter, replaced: '' };
  try {
    const { text: kept, replaced } = JSON.parse(text ?? '{}');
    return typeof kept === 'string' && typeof replaced === 'string' ? { text: kept, replaced } : nothing;
  } catch {
    return nothing;
  }
}

const read = (exercise: string, starter: string): KeptProgram => parse(stored(exercise), starter);

function write(exercise: string, program: KeptProgram): void {
  try {
    localStorage.setItem(keyOf(exercise), JSON.stringify(program));
  } catch {
    // Storage is full or forbidden; the address still holds the current program.
  }
  for (const listener of listeners) listener();
}

/** A program in an exercise: its text, and the operations on it. */
export interface ProgramOfExercise {
  readonly program: string;
  /** The program that the exercise begins with; empty for most. */
  readonly starter: string;
  /** Takes the text that the visitor typed. */
  edit(text: string): void;
  /** Puts another program into the editor; the previous one can be restored. */
  replace(text: string): void;
  /** Restores the replaced program; null if none was replaced. */
  readonly restore: (() => void) | null;
  /**
   * Shows the stored program of another exercise, or its starter; the program of this exercise stays stored.
   */
  open(exercise: string, starter?: string): void;
}

/**
 * The program of an exercise. The address holds it, so that it can be shared; local storage holds one for
 * each exercise, so that opening another exercise, another chapter or reloading does not lose it. A program
 * from a link replaces the stored one at its first edit, and the stored one can be restored from then on. The
 * starter is the program that an exercise begins with, and is not in the address.
 */
export function useProgram(exercise: string, starter = ''): ProgramOfExercise {
  const { state } = usePlace();
  const [, setWritten] = useUrlState('program', starter);
  // The address may stay the same while the stored program changes.
  const kept = parse(
    useSyncExternalStore(subscribe, () => stored(exercise)),
    starter,
  );
  const program = state.program ?? kept.text;
  const put = (text: string, replaced: string): void => {
    write(exercise, { text, replaced });
    setWritten(text);
  };
  const { replaced } = kept;
  const isBlank = (text: string): boolean => text.trim() === '' || text === starter;
  return {
    program,
    starter,
    edit: text => put(text, kept.text !== program && !isBlank(kept.text) ? kept.text : replaced),
    replace: text => put(text, isBlank(program) ? replaced : program),
    restore: replaced.trim() === '' ? null : () => put(replaced, program),
    open: (next, nextStarter = '') => {
      const { text } = read(next, nextStarter);
      // If the program is the starter, the address has no program.
      setWritten(text === nextStarter ? starter : text);
    },
  };
}

/** Puts a program into an exercise that is not open; its previous program can be restored there. */
export function replaceKeptProgram(exercise: string, text: string): void {
  const before = read(exercise, '');
  write(exercise, {
    text,
    replaced: before.text.trim() === '' || before.text === text ? before.replaced : before.text,
  });
}
