import { existsSync } from 'node:fs';
import type { BlockMaskCase } from '@tilewise/test-data';
import { readJson } from '../../data-folder.ts';
import { SetupError } from '../../suite.ts';

/** A group of test cases: every combination of the values of its axes. */
export interface Group {
  readonly id: string;
  readonly grid: Readonly<Record<string, readonly unknown[]>>;
  readonly tol: Tolerances;
}

/** A rule of tolerance, and its numbers by result or dtype. */
export interface Tolerances {
  readonly rule: string;
  readonly fudge: Readonly<Record<string, number>>;
  /** By result (`out`, `grads`, `all`) or dtype: [absolute, relative]. */
  readonly pairs: Readonly<Record<string, readonly [number, number]>>;
}

/** The content of a file of groups, or of one of block masks. */
export type PytorchFile =
  | { readonly kind: 'groups'; readonly groups: readonly Group[] }
  | { readonly kind: 'block masks'; readonly cases: readonly BlockMaskCase[] };

/** @throws SetupError when there is no such file, or it is neither of the two kinds. */
export function readPytorchFile(file: string): PytorchFile {
  if (!existsSync(file)) throw new SetupError(`--cases: there is no file ${file}.`);
  const content = Object(readJson(file));
  if (Array.isArray(content.conformance)) {
    return { kind: 'groups', groups: content.conformance.map(parseGroup) };
  }
  if (Array.isArray(content.cases)) return { kind: 'block masks', cases: content.cases };
  throw new SetupError(`--cases: ${file} has neither groups of cases nor block masks.`);
}

function parseGroup(raw: Readonly<Record<string, unknown>>): Group {
  const { rule = 'torch defaults', fudge = {}, ...others } = Object(raw.tol ?? {});
  const pairs = Object.entries(others).filter((entry): entry is [string, [number, number]] => {
    const [, value] = entry;
    return Array.isArray(value) && value.length === 2 && value.every(Number.isFinite);
  });
  // An axis with one value is written without a list.
  const axes = Object.entries(Object(raw.grid)).map(([name, value]) => [
    name,
    Array.isArray(value) ? value : [value],
  ]);
  return {
    id: String(raw.id),
    grid: Object.fromEntries(axes),
    tol: { rule, fudge, pairs: Object.fromEntries(pairs) },
  };
}
