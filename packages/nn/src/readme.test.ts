import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readmeExamples } from '@tilewise/readme-examples';
import { expect, test } from 'vitest';
import { drawWeights, tinyLlama } from '../testing/tiny-model.ts';
import { encodeSafetensors } from './checkpoint/index.ts';

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

test('the example of safetensors reads what it wrote', async () => {
  expect(await run(safetensors)).toEqual(['weight', 'f16', [2, 2]]);
});
