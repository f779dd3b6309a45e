import type { Choice } from './draft.ts';
import { randomOptions } from './options/index.ts';
import { MissingPairs, type Pair, type Values } from './pairs.ts';
import { createRandom, type Random } from './random.ts';

const optionsOf = (kind: 'structure' | 'number'): number[] =>
  randomOptions.map((_, n) => n).filter(n => randomOptions[n].kind === kind);
const structural = optionsOf('structure');
const numeric = optionsOf('number');

/** Choices of structure, and the pairs of values that found no place in any of them. */
export interface StructurePool {
  readonly structures: readonly Choice[];
  /** As `option value × option value`. */
  readonly impossible: readonly string[];
}

/**
 * Structures in which every two values of two structural options meet, if any structure that holds together and is admitted by
 * the engine has both. Other seeds give other structures.
 */
export function drawStructures(
  seed: number,
  admits: (structure: Choice) => boolean = () => true,
): StructurePool {
  const random = createRandom(seed, 'structures');
  const missing = new MissingPairs(structural);
  const nothing = new MissingPairs([]);
  const structures: Choice[] = [];
  const impossible: string[] = [];
  const alone = new Map<string, boolean>();
  const isAdmitted = (structure: Choice): boolean =>
    structural.every(n => randomOptions[n].fits(structure)) && admits(structure);
  // A value that the engine has in no structure at all would cost a search for each of its pairs.
  const isKnown = (a: number, x: number): boolean => {
    const key = `${a}:${x}`;
    const known = alone.get(key) ?? search(random, [[a, x]], nothing, isAdmitted) !== null;
    alone.set(key, known);
    return known;
  };
  for (let pair = missing.first(); pair; pair = missing.first()) {
    const [a, x, b, y] = pair;
    const both = [
      [a, x],
      [b, y],
    ] as const;
    const found = both.every(([n, value]) => isKnown(n, value))
      ? search(random, both, missing, isAdmitted)
      : null;
    if (found) {
      missing.meet(found);
      structures.push(choiceOf(found, structural));
    } else {
      missing.strike(pair);
      impossible.push(labelOf(pair));
    }
  }
  return { structures, impossible };
}

const attempts = 24;

/** The best of some admitted structures with the given values: that in which most missing pairs meet. */
function search(
  random: Random,
  fixed: readonly (readonly [option: number, value: number])[],
  missing: MissingPairs,
  isAdmitted: (structure: Choice) => boolean,
): Values | null {
  let best: { readonly values: Values; readonly gain: number } | null = null;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (best && attempt > attempts / 2) break;
    const values = randomOptions.map(() => -1);
    for (const [option, value] of fixed) values[option] = value;
    // Later attempts ask for less and less, as a device has only so many bindings.
    const asked = 1 - attempt / attempts;
    for (const n of shuffled(structural, random)) {
      if (values[n] < 0) values[n] = random.chance(asked) ? bestValue(values, n, missing, random) : 0;
    }
    const gain = missing.count(values);
    if (best && gain <= best.gain) continue;
    if (isAdmitted(choiceOf(values, structural))) best = { values, gain };
  }
  return best?.values ?? null;
}

/** The value of option n in which most missing pairs meet; one of them, where there are several. */
function bestValue(values: Values, n: number, missing: MissingPairs, random: Random): number {
  let best = { value: 0, gain: -1 };
  const { length } = randomOptions[n].values;
  const first = random.integer(0, length - 1);
  for (let turn = 0; turn < length; turn++) {
    const value = (first + turn) % length;
    const gain = missing.gain(values, n, value);
    if (gain > best.gain) best = { value, gain };
  }
  return best.value;
}

/** `each` choices of all options for every structure: numbers are drawn so that their values meet each other and the structures'. */
export function completeChoices(structures: readonly Choice[], each: number, seed: number): Choice[] {
  const random = createRandom(seed, 'numbers');
  const missing = new MissingPairs([...structural, ...numeric], numeric);
  return structures.flatMap(structure =>
    Array.from({ length: each }, () => {
      const values = randomOptions.map((option, n) =>
        structural.includes(n) ? option.values.indexOf(structure[option.name]) : -1,
      );
      for (const n of shuffled(numeric, random)) values[n] = bestValue(values, n, missing, random);
      missing.meet(values);
      return choiceOf(values, [...structural, ...numeric]);
    }),
  );
}

/** A structure with the plainest value of every other option. */
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

function labelOf([a, x, b, y]: Pair): string {
  const label = (n: number, value: number): string =>
    `${randomOptions[n].name} ${JSON.stringify(randomOptions[n].values[value])}`;
  return `${label(a, x)} × ${label(b, y)}`;
}
