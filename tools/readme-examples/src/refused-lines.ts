import { compilerErrors } from './compiler-errors.ts';

/**
 * The numbers, from 1, of the lines of a program that the TypeScript compiler refuses, each once.
 * @param place the folder from which the program's imports are resolved.
 */
export function refusedLines(lines: readonly string[], place?: string): number[] {
  const errors = compilerErrors(new Map([['program', lines.join('\n')]]), place);
  return [...new Set([...errors.matchAll(/program\.ts\((\d+),/g)].map(match => Number(match[1])))];
}
