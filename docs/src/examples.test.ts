import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { encodeSafetensors } from '@tilewise/nn/checkpoint';
import { readmeExamples } from '@tilewise/readme-examples';
import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { drawWeights, tinyLlama } from '../../packages/nn/testing/tiny-model.ts';
import { TINY_VOCABULARY, tinyTokenizer } from '../../packages/nn/testing/tiny-tokenizer.ts';

const docs = fileURLToPath(new URL('..', import.meta.url));
// The examples of `extending.md` are changes to the packages; `recipes.test.ts` applies them.
const skipped = ['node_modules', 'src', 'extending.md'];

function pagesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name);
    if (skipped.includes(entry.name)) return [];
    if (entry.isDirectory()) return pagesIn(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** A folder with a model, which the examples read instead of the reader's own. */
let model: string;

beforeAll(async () => {
  const { gpu } = await openGpu();
  vi.stubGlobal('navigator', { gpu });
  model = mkdtempSync(join(tmpdir(), 'model-'));
  const config = { ...tinyLlama, vocab_size: TINY_VOCABULARY };
  writeFileSync(join(model, 'config.json'), JSON.stringify(config));
  writeFileSync(join(model, 'model.safetensors'), encodeSafetensors(drawWeights(config)));
  writeFileSync(join(model, 'tokenizer.json'), JSON.stringify(tinyTokenizer()));
});
afterAll(() => {
  rmSync(model, { recursive: true });
  vi.unstubAllGlobals();
});

test('the index of the guide names every page of the guide', () => {
  const guide = join(docs, 'guide');
  const index = readFileSync(join(guide, 'README.md'), 'utf8');
  const named = [...index.matchAll(/\]\((\w[\w/-]+\.md)\)/g)].map(([, page]) => page);
  const pages = pagesIn(guide).map(page => relative(guide, page));
  expect(['README.md', ...named].sort()).toEqual([...pages].sort());
});

// The root of the repository depends on no package of its own.
const pages = [join(docs, '..', 'README.md'), ...pagesIn(docs)];
const examples = pages.flatMap(page => {
  const { examples, run } = readmeExamples(pathToFileURL(page), new URL(import.meta.url));
  return examples.map((code, n) => ({ page: relative(docs, page), number: n + 1, code, run }));
});

test.each(examples)('$page: example $number runs', async ({ code, run }) => {
  await run(code.replaceAll("'./my-model'", JSON.stringify(model)));
});
