import { inspect } from 'node:util';

/** The global through which a running example checks its logs. */
const checkName = '__checkLastLog';

/** The code with a check in place of each comment `// => text` after a `console.log`. */
export function withExpectations(code: string): string {
  return code.replace(
    /(console\.log\(.*\);) \/\/ => (.*)$/gm,
    (_, log: string, text: string) => `${log} globalThis.${checkName}(${JSON.stringify(text)});`,
  );
}

/**
 * Runs an example and returns the values that it logged. Fails if a log differs from the text that
 * `withExpectations` found.
 */
export async function logsOf(run: () => Promise<unknown>): Promise<unknown[]> {
  const { log } = console;
  const values: unknown[] = [];
  let last: readonly unknown[] = [];
  console.log = (...logged: unknown[]) => {
    values.push(...logged);
    last = logged;
  };
  Reflect.set(globalThis, checkName, (expected: string) => {
    const text = last.map(asText).join(' ');
    if (!matches(text, expected)) throw new Error(`The example logs ${text}; the page says ${expected}`);
  });
  try {
    await run();
  } finally {
    console.log = log;
    Reflect.deleteProperty(globalThis, checkName);
  }
  return values;
}

function asText(value: unknown): string {
  return typeof value === 'string'
    ? value
    : inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 4 });
}

/** Whether a log equals the expected text, apart from white space; `…` matches any text. */
function matches(text: string, expected: string): boolean {
  const parts = expected
    .split('…')
    .map(part => part.replace(/\s/g, '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text.replace(/\s/g, ''));
}
