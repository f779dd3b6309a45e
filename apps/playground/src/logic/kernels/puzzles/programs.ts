import type { PuzzleId } from './puzzles.ts';

/** WGSL files, by folder and puzzle. */
const files = import.meta.glob<string>('./*/*.wgsl', { query: '?raw', import: 'default', eager: true });

const fileOf = (folder: string, id: PuzzleId): string => (files[`./${folder}/${id}.wgsl`] ?? '').trimEnd();

/** The program that the editor begins with. */
export const starterOf = (id: PuzzleId): string => fileOf('starters', id);

/** The best kernel that is known for a puzzle. */
export const solutionOf = (id: PuzzleId): string => fileOf('solutions', id);

/**
 * A right but simple kernel to compare times with; empty for a puzzle that races against the solution of
 * another.
 */
export const rivalOf = (id: PuzzleId): string => fileOf('rivals', id);
