import { transform } from 'sucrase';
import { formatValue } from './format-value.ts';

/** The packages that an example of the site may import. A page loads only those that its examples name. */
const modules: Readonly<Record<string, () => Promise<unknown>>> = {
  '@tilewise/core': () => import('@tilewise/core'),
  '@tilewise/core/cpu': () => import('@tilewise/core/cpu'),
  '@tilewise/core/expr': () => import('@tilewise/core/expr'),
  '@tilewise/core/reference': () => import('@tilewise/core/reference'),
  '@tilewise/graph': () => import('@tilewise/graph'),
  '@tilewise/graph/ops': () => import('@tilewise/graph/ops'),
  '@tilewise/nn': () => import('@tilewise/nn'),
  '@tilewise/philox': () => import('@tilewise/philox'),
  '@tilewise/webgpu': () => import('@tilewise/webgpu'),
};

/**
 * Runs an example in the page, as a TypeScript module with `await`, and passes each line that it logs to
 * `log`.
 * @throws Error for invalid TypeScript and for packages that the site does not have, and the example's own
 * errors.
 */
export async function runExample(code: string, log: (line: string) => void): Promise<void> {
  const { code: script } = transform(code, { transforms: ['typescript', 'imports'] });
  const names = [...script.matchAll(/require\('([^']+)'\)/g)].map(([, name]) => name);
  const loaded = new Map(
    await Promise.all(
      names.map(async name => {
        const load = modules[name];
        if (!load) throw new Error(`The site has no ${name}. It has ${Object.keys(modules).join(', ')}.`);
        return [name, await load()] as const;
      }),
    ),
  );
  const AsyncFunction = (async () => {}).constructor as new (
    ...code: string[]
  ) => (...values: unknown[]) => Promise<void>;
  const write = (...values: unknown[]) => log(values.map(formatValue).join(' '));
  const run = new AsyncFunction('require', 'exports', 'console', script);
  await run((name: string) => loaded.get(name), {}, { log: write, warn: write, error: write });
}
