/** The environment variables that choose what a run of random problems tests. */
const variables = { seed: 'TILEWISE_SEED', number: 'TILEWISE_PROBLEM' } as const;

/** Where there is no environment, as in a browser, nothing is chosen. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

/** The integer ≥ 0 that an environment variable holds; undefined where it is unset or empty. */
export function integerOf(name: string): number | undefined {
  const text = environment(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`${name} must be an integer ≥ 0, got ${text}`);
}

/** The seed of this run: that of `TILEWISE_SEED` (CI takes it from the commit), or a new one. */
export function runSeed(): number {
  return integerOf(variables.seed) ?? Math.floor(Math.random() * 2 ** 32);
}

/** The one problem to run, by `TILEWISE_PROBLEM`; otherwise all. */
export function onlyProblem(): number | undefined {
  return integerOf(variables.number);
}

/** The command that runs one problem again. */
export function rerunCommand(test: string, seed: number, number: number): string {
  return `${variables.seed}=${seed} ${variables.number}=${number} npx vitest run ${test}`;
}
