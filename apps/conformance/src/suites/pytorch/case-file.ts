import { existsSync } from 'node:fs';
import { readJson } from '../../data-folder.ts';
import { SetupError } from '../../suite.ts';

/** A group of test cases: every combination of the values of its axes. */
export interface Group {
  readonly id: string;
  readonly grid: Readonly<Record<string, readonly unknown[]>>;
  readonly tol: Tolerances;
  /** The part of the group that is not understood; such a group fails. */
  readonly notUnderstood?: string;
}

/** A tolerance rule, and its numbers by result or dtype. */
export interface Tolerances {
  readonly rule: string;
  readonly fudge: Readonly<Record<string, number>>;
  /** By result (`out`, `grads`, `all`) or dtype: [absolute, relative]. */
  readonly pairs: Readonly<Record<string, readonly [number, number]>>;
}

/** The content of a file of groups, or of a file of block masks. */
export type PytorchFile =
  | { readonly kind: 'groups'; readonly groups: readonly Group[] }
  | { readonly kind: 'block masks'; readonly cases: readonly unknown[] };

/** @throws SetupError if the file does not exist or is of neither kind. */
export function readPytorchFile(file: string): PytorchFile {
  if (!existsSync(file)) throw new SetupError(`--cases: there is no file ${file}.`);
  const content = Object(readJson(file));
  if (Array.isArray(content.conformance)) {
    return { kind: 'groups', groups: content.conformance.map(parseGroup) };
  }
  if (Array.isArray(content.cases)) return { kind: 'block masks', cases: content.cases };
  throw new SetupError(`--cases: ${file} has neither groups of cases nor block masks.`);
}

const results = ['out', 'grads', 'all', 'f16', 'bf16', 'f32', 'f64'];
/**
 * Parts of a tolerance that this suite's rules do not use: its golden results are f64, and dropout has no
 * tolerance of its own.
 */
const unused = ['golden', 'dropoutMultiplier'];

function parseGroup(raw: unknown, index: number): Group {
  const { id = `#${index}`, grid, tol } = Object(raw);
  const { rule = 'torch defaults', fudge = {}, ...others } = Object(tol ?? {});
  const given = Object.entries(others).filter(([name]) => !unused.includes(name));
  const wrong = given.find(([name, value]) => !(results.includes(name) && isPair(value)));
  const factor = Object.entries(Object(fudge)).find(([, value]) => !Number.isFinite(value));
  // An axis with a single value is written without a list.
  const axes = Object.entries(Object(grid)).map(([name, value]): [string, readonly unknown[]] => [
    name,
    Array.isArray(value) ? value : [value],
  ]);
  const empty = axes.find(([, values]) => values.length === 0);
  const notUnderstood =
    (axes.length === 0 && 'it has no grid') ||
    (empty && `the axis ${empty[0]} has no value`) ||
    (wrong && `tol.${wrong[0]} must be [absolute, relative], got ${JSON.stringify(wrong[1])}`) ||
    (factor && `tol.fudge.${factor[0]} must be a number, got ${JSON.stringify(factor[1])}`);
  return {
    id: String(id),
    grid: Object.fromEntries(axes),
    tol: {
      rule: String(rule),
      fudge: Object(fudge),
      pairs: Object.fromEntries(given) as Tolerances['pairs'],
    },
    ...(notUnderstood && { notUnderstood }),
  };
}

function isPair(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isFinite);
}
