import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readmeExamples, refusedLines } from '@tilewise/readme-examples';
import { expect, test } from 'vitest';
import { drawWeights, tinyLlama } from '../testing/tiny-model.ts';
import { encodeSafetensors } from './files/checkpoint/index.ts';

const { examples, run } = readmeExamples(new URL('../README.md', import.meta.url));
const [models, scratch, safetensors] = examples;

test('the README has the examples that are run here', () => {
  expect(examples).toHaveLength(3);
});

test('the example of a model continues a text, trains an adapter and saves it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'model-'));
  try {
    writeFileSync(join(folder, 'config.json'), JSON.stringify(tinyLlama));
    writeFileSync(join(folder, 'model.safetensors'), encodeSafetensors(drawWeights(tinyLlama)));
    const logged = await run(models.replace('./SmolLM2-135M', folder));
    const numbers = logged.slice(0, 7) as number[];
    expect(numbers.every(Number.isFinite)).toBe(true);
    expect(numbers[6]).toBeLessThan(numbers[4]);
    expect(logged[7]).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the example from scratch has 17 lines at most beside what it logs, and learns', async () => {
  const lines = scratch.trim().split('\n');
  expect(lines.filter(line => !line.startsWith('console.log')).length).toBeLessThanOrEqual(17);
  const [loss] = (await run(scratch)) as number[];
  expect(loss).toBeLessThan(0.5);
});

/** A name with two letters swapped, with a letter missing, and with a letter doubled. */
const misspelt = (name: string): string[] => {
  const at = Math.floor(name.length / 2);
  const [start, letter, end] = [name.slice(0, at), name[at], name.slice(at + 1)];
  return [
    `${name.slice(0, at - 1)}${letter}${name[at - 1]}${end}`,
    `${start}${end}`,
    `${start}${letter}${letter}${end}`,
  ].filter(text => text !== name);
};

test('the compiler refuses every misspelt operation, attribute and option of the example from scratch', () => {
  const lines = scratch.trim().split('\n');
  const imports = lines.filter(line => line.startsWith('import '));
  const program = lines.slice(imports.length).join(' ');
  // Operations, results, the keys of options, dtypes, and the optimizer.
  const names = [...program.matchAll(/(?<=\bt\.|\)\.)\w+|(?<=[{,] )\w{2,}(?=: )|(?<=')\w+(?=')|\bsgd\b/g)];
  const variants = names.flatMap(({ 0: name, index }) =>
    misspelt(name).map(text => `${program.slice(0, index)}${text}${program.slice(index + name.length)}`),
  );
  expect(names.map(([name]) => name)).toEqual(
    expect.arrayContaining(['attention', 'causal', 'transposeB', 'dtype', 'i32', 'rate', 'parameters']),
  );
  const functions = [program, ...variants].map((body, n) => `async function run${n}() { ${body} }`);
  const refused = refusedLines([...imports, ...functions], fileURLToPath(new URL('..', import.meta.url)));
  expect(refused).toEqual(variants.map((_, n) => imports.length + 2 + n));
}, 60_000);

test('the example of safetensors reads what it wrote', async () => {
  expect(await run(safetensors)).toEqual(['weight', 'f16', [2, 2]]);
});
