// Writes the Python files of exports into src/formats/*/runtime-files.ts, as text that a bundle holds.
// Run it after a change to one of them; a test compares the two.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

for (const library of ['torch', 'jax']) {
  const room = new URL(`../src/formats/${library}/`, import.meta.url);
  // The package's own __init__.py is empty; every export writes one.
  const names = readdirSync(new URL('python/', room), { recursive: true })
    .map(path => path.replaceAll('\\', '/'))
    .filter(path => /^(?!.*\btest_|__init__|.*__pycache__).+\.py$/.test(path));
  const entries = names.sort().map(name => {
    const text = JSON.stringify(readFileSync(new URL(`python/${name}`, room), 'utf8'));
    // Single quotes, as the formatter has them where a text holds more of the others.
    return `  '${name}':\n    '${text.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}',`;
  });
  const module = `// Written by scripts/embed-python.mjs from the files in python/.
/** The Python files that every export has, by their paths. */
export const runtimeFiles: Readonly<Record<string, string>> = {
${entries.join('\n')}
};
`;
  writeFileSync(new URL('runtime-files.ts', room), module);
}
