import type { Choice } from '../draft.ts';
import { randomOptions } from '../options/index.ts';
import { createRandom, type Random } from '../random/random.ts';
import { MissingPairs, type Values } from './pairs.ts';

const optionsOf = (kind: 'structure' | 'number'): number[] =>
  randomOptions.map((_, n) => n).filter(n => randomOptions[n].kind === kind);
const structural = optionsOf('structure');
const numeric = optionsOf('number');

/** Choices of structure, and the values and pairs that none of them contains. */
export interface StructurePool {
  readonly structures: readonly Choice[];
  /** Values that the engine does not support at all, as `option value`. */
  readonly unknown: readonly string[];
  /** Pairs of supported values that cannot be combined, as `option value × option value`. */
  readonly impossible: readonly string[];
}

/**
 * Structures that cover every pair of values of two structural options, as long as some consistent structure
 * that the engine supports contains both. Other seeds give other structures.
 */
export function drawStructures(
  seed: number,
  admits: (structure: Choice) => boolean = () => true,
): StructurePool {
  const random = createRandom(seed, 'structures');
  const missing = new MissingPairs(structural);
  const structures: Choice[] = [];
  const impossible: string[] = [];
  // Values that the engine supports in no structure are excluded from the start.
  const all = randomOptions.map(({ values }) => values.map((_, x) => x));
  const nothing = new MissingPairs([]);
  const known = all.map((values, a) =>
    structural.includes(a) ? values.filter(x => search(random, [[a, x]], nothing, all, admits)) : values,
  );
  for (let pair = missing.first(); pair; pair = missing.first()) {
    const [a, x, b, y] = pair;
    const fixed = [
      [a, x],
      [b, y],
    ] as const;
    const isKnown = fixed.every(([n, value]) => known[n].includes(value));
    const found = isKnown ? search(random, fixed, missing, known, admits) : null;
    if (found) {
      missing.meet(found);
      structures.push(choiceOf(found, structural));
    } else {
      missing.strike(pair);
      if (isKnown) impossible.push(`${labelOf(a, x)} × ${labelOf(b, y)}`);
    }
  }
  const unknown = all.flatMap((values, n) =>
    values.filter(x => !known[n].includes(x)).map(x => labelOf(n, x)),
  );
  return { structures, unknown, impossible };
}

const attempts = 24;

/** Of some supported structures with the given values, the one that covers the most missing pairs. */
function search(
  random: Random,
  fixed: readonly (readonly [option: number, value: number])[],
  missing: MissingPairs,
  allowed: readonly (readonly number[])[],
  admits: (structure: Choice) => boolean,
): Values | null {
  let best: { readonly values: Values; readonly gain: number } | null = null;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (best && attempt > attempts / 2) break;
    const values = randomOptions.map(() => -1);
    for (const [option, value] of fixed) values[option] = value;
    if (!fixed.every(([option, value]) => goesWith(values, option, value))) return null;
    // Later attempts set fewer and fewer options, because a device has a limited number of bindings.
    const asked = 1 - attempt / attempts;
    for (const n of shuffled(structural, random)) {
      if (values[n] >= 0) continue;
      const possible = allowed[n].filter(x => goesWith(values, n, x));
      const plain = possible[0] ?? 0;
      values[n] = random.chance(asked) ? bestValue(values, n, possible, missing, random) : plain;
    }
    const gain = missing.count(values);
    if (best && gain <= best.gain) continue;
    if (admits(choiceOf(values, structural))) best = { values, gain };
  }
  return best?.values ?? null;
}

/** For each value of each option, the values of other options that it can be combined with. */
const needs = randomOptions.map(option =>
  option.values.map(value =>
    Object.entries(option.needs(value)).map(([name, wanted]) => {
      const of = randomOptions.findIndex(other => other.name === name);
      return { of, wanted: wanted.map(one => randomOptions[of].values.indexOf(one)) };
    }),
  ),
);

/**
 * Whether value x of option n can be combined with the values chosen so far: its requirements are met, and it
 * meets theirs.
 */
function goesWith(values: Values, n: number, x: number): boolean {
  return (
    needs[n][x].every(({ of, wanted }) => values[of] < 0 || wanted.includes(values[of])) &&
    values.every((y, m) => y < 0 || needs[m][y].every(({ of, wanted }) => of !== n || wanted.includes(x)))
  );
}

/** The value of option n that covers the most missing pairs; if there are several, one of them. */
function bestValue(
  values: Values,
  n: number,
  possible: readonly number[],
  missing: MissingPairs,
  random: Random,
): number {
  let best = { value: possible[0] ?? 0, gain: -1 };
  const first = random.integer(0, possible.length - 1);
  for (let turn = 0; turn < possible.length; turn++) {
    const value = possible[(first + turn) % possible.length];
    const gain = missing.gain(values, n, value);
    if (gain > best.gain) best = { value, gain };
  }
  return best.value;
}

/**
 * `each` choices of all options for every structure: numbers are drawn so that pairs of their values, and
 * pairs with the structures' values, are covered.
 */
export function completeChoices(structures: readonly Choice[], each: number, seed: number): Choice[] {
  const random = createRandom(seed, 'numbers');
  const missing = new MissingPairs([...structural, ...numeric], numeric);
  return structures.flatMap(structure =>
    Array.from({ length: each }, () => {
      const values = randomOptions.map((option, n) =>
        structural.includes(n) ? option.values.indexOf(structure[option.name]) : -1,
      );
      for (const n of shuffled(numeric, random)) {
        const possible = randomOptions[n].values.map((_, x) => x);
        values[n] = bestValue(values, n, possible, missing, random);
      }
      missing.meet(values);
      return choiceOf(values, [...structural, ...numeric]);
    }),
  );
}

/** A structure with the default value of every other option. */
export function plainChoice(structure: Choice): Choice {
  return {
    ...Object.fromEntries(numeric.map(n => [randomOptions[n].name, randomOptions[n].values[0]])),
    ...structure,
  };
}

function choiceOf(values: Values, options: readonly number[]): Choice {
  return Object.fromEntries(
    options.map(n => [randomOptions[n].name, randomOptions[n].values[Math.max(0, values[n])]]),
  );
}

function shuffled(list: readonly number[], random: Random): number[] {
  return list
    .map(n => [random.uniform(), n] as const)
    .sort(([a], [b]) => a - b)
    .map(([, n]) => n);
}

function labelOf(n: number, x: number): string {
  return `${randomOptions[n].name} ${JSON.stringify(randomOptions[n].values[x])}`;
}
