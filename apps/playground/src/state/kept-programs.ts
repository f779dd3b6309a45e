import { useSyncExternalStore } from 'react';
import { usePlace, useUrlState } from './url-state.ts';

/** The program of one exercise as this browser keeps it, and the program that it replaced. */
interface KeptProgram {
  readonly text: string;
  /** The program before the last one was put in its place by a button or a link; empty if there was none. */
  readonly replaced: string;
}

const keyOf = (exercise: string): string => `tilewise.program.${exercise}`;

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The stored text of an exercise; null where there is none, or storage is forbidden. */
function stored(exercise: string): string | null {
  try {
    return localStorage.getItem(keyOf(exercise));
  } catch {
    return null;
  }
}

/** Reads stored text; the starter where nothing is stored, or something that this page did not write. */
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
    // A full or forbidden storage: the address still holds the program that is shown.
  }
  for (const listener of listeners) listener();
}

/** A program in an exercise: what is shown, and what may be done with it. */
export interface ProgramOfExercise {
  readonly program: string;
  /** The program that the exercise begins with; empty for most. */
  readonly starter: string;
  /** The visitor typed. */
  edit(text: string): void;
  /** A button puts another program into the editor; the one that was there can be restored. */
  replace(text: string): void;
  /** Brings the replaced program back; null where none was replaced. */
  readonly restore: (() => void) | null;
  /** Shows the kept program of another exercise, or its starter; what was written here stays kept. */
  open(exercise: string, starter?: string): void;
}

/**
 * The program of an exercise. The address has it, so that it can be shared; local storage keeps one for each
 * exercise, so that neither another exercise, nor another chapter, nor reloading loses it. A program that
 * comes by a link replaces the kept one at its first edit, and can be restored from then on. The starter is
 * what an exercise begins with, and is not in the address.
 */
export function useProgram(exercise: string, starter = ''): ProgramOfExercise {
  const { state } = usePlace();
  const [, setWritten] = useUrlState('program', starter);
  // The address may stay the same while the kept program changes.
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
      // The address has no program where it is the starter.
      setWritten(text === nextStarter ? starter : text);
    },
  };
}

/** Puts a program into an exercise that is not open; the one that it had can be restored there. */
export function replaceKeptProgram(exercise: string, text: string): void {
  const before = read(exercise, '');
  write(exercise, {
    text,
    replaced: before.text.trim() === '' || before.text === text ? before.replaced : before.text,
  });
}
