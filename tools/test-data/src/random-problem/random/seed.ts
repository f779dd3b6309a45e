/** The environment variables that decide which random problems a run tests. */
const variables = { seed: 'TILEWISE_SEED', number: 'TILEWISE_PROBLEM' } as const;

/** Without an environment, as in a browser, all have their defaults. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

/** The integer ≥ 0 that an environment variable holds; undefined if it is unset or empty. */
export function integerOf(name: string): number | undefined {
  const text = environment(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`${name} must be an integer ≥ 0, got ${text}`);
}

/** The seed of this run: `TILEWISE_SEED` (which CI derives from the commit), or a new one. */
export function runSeed(): number {
  return integerOf(variables.seed) ?? Math.floor(Math.random() * 2 ** 32);
}

/** The one problem to run, from `TILEWISE_PROBLEM`; undefined for all. */
export function onlyProblem(): number | undefined {
  return integerOf(variables.number);
}

/** The command that repeats one problem. */
export function rerunCommand(test: string, seed: number, number: number): string {
  return `${variables.seed}=${seed} ${variables.number}=${number} npx vitest run ${test}`;
}
