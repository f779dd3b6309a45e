import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { loadModel } from '@tilewise/nn';
import { encodeSafetensors, folderFiles, readSafetensors } from '@tilewise/nn/checkpoint';
import { sharedDir } from '@tilewise/test-data';
import { expect, test } from 'vitest';
import { newFolder, run, runJson } from '../../../testing/run-conformance.ts';

const shared = sharedDir();
const models = join(shared ?? '', 'vectors/models');
const withModels = test.skipIf(!shared);

withModels('a decoder with grouped heads and shards passes all checks', async () => {
  const { code, counts, results } = await runJson('models', '--models', models, '--filter', 'llama');
  expect(results.filter(({ status }) => status === 'fail')).toEqual([]);
  expect(counts).toMatchObject({ pass: 7, fail: 0 });
  expect(code).toBe(0);
});

withModels('16-bit weights have their logits compared', async () => {
  const { counts } = await runJson('models', '--models', models, '--dtype', 'f16', '--filter', 'vit');
  expect(counts).toMatchObject({ pass: 1, fail: 0 });
});

withModels('what differs fails, with the tensor that is wrong', async () => {
  const vit = join(models, 'vit');
  const file = join(vit, 'expected.safetensors');
  const tensors = new Map<string, Tensor>();
  for await (const [name, tensor] of readSafetensors(readFileSync(file))) tensors.set(name, tensor);
  const change = (name: string): void => {
    const tensor = tensors.get(name) as Tensor;
    tensors.set(
      name,
      Tensor.from(
        tensor.toFloat64().map((x, n) => (n === 3 ? x + 0.01 : x)),
        tensor.shape,
      ),
    );
  };
  change('logits');
  change('grad.classifier.bias');
  const changed = newFolder();
  for (const name of ['config.json', 'model.safetensors']) cpSync(join(vit, name), join(changed, name));
  writeFileSync(join(changed, 'expected.safetensors'), encodeSafetensors(tensors));
  const { code, results } = await runJson('models', '--models', changed);
  const failed = results.filter(({ status }) => status === 'fail');
  expect(failed.map(({ case: name }) => name)).toEqual(['model logits', 'model gradients']);
  expect(failed[1].reason).toContain("the gradient of 'classifier.bias'");
  expect(code).toBe(1);
});

/** A folder with a copy of ViT's files, of which some are changed. */
function changedViT(
  root: string,
  name: string,
  change: Readonly<Record<string, (bytes: Buffer) => string | Buffer>>,
): void {
  mkdirSync(join(root, name));
  for (const file of ['config.json', 'model.safetensors', 'expected.safetensors']) {
    const bytes = readFileSync(join(models, 'vit', file));
    writeFileSync(join(root, name, file), change[file]?.(bytes) ?? bytes);
  }
}

withModels('a model that the library refuses is unsupported, and a damaged one fails alone', async () => {
  const root = newFolder();
  const withOption = (bytes: Buffer): string =>
    JSON.stringify({ ...JSON.parse(`${bytes}`), hidden_act: 'laplace' });
  changedViT(root, 'activation', { 'config.json': withOption });
  changedViT(root, 'expectation', { 'expected.safetensors': bytes => bytes.subarray(0, -1) });
  changedViT(root, 'weights', { 'model.safetensors': bytes => bytes.subarray(0, -1) });
  changedViT(root, 'whole', {});
  const { code, results } = await runJson('models', '--models', root);
  const statuses = results.map(({ case: name, status }) => [name.split(' ')[0], status]);
  const outcomes = Object.fromEntries(statuses);
  expect(new Set(statuses.map(String)).size).toBe(4);
  expect(outcomes).toEqual({
    activation: 'unsupported',
    expectation: 'fail',
    weights: 'fail',
    whole: 'pass',
  });
  expect(results[0].reason).toContain('hidden_act');
  expect(code).toBe(1);
});

withModels('texts without an attention mask have no padding', async () => {
  const folder = newFolder();
  const tensors = new Map<string, Tensor>();
  for await (const [name, tensor] of readSafetensors(
    readFileSync(join(models, 'qwen2/expected.safetensors')),
  ))
    if (name === 'prompt' || name === 'greedy') tensors.set(name, tensor);
  for (const name of ['config.json', 'model.safetensors'])
    cpSync(join(models, 'qwen2', name), join(folder, name));
  const tokens = tensors.get('greedy') as Tensor;
  const model = await loadModel(folderFiles(folder), { engine: cpuEngine() });
  const logits = await model.logits({ tokens: [[...tokens.toFloat64()]] });
  const expected = new Map([
    ['input_ids', tokens],
    ['labels', tokens],
    ['logits', logits],
  ]);
  writeFileSync(join(folder, 'expected.safetensors'), encodeSafetensors(expected));
  const { counts } = await runJson('models', '--models', folder);
  expect(counts).toMatchObject({ pass: 1, fail: 0 });
});

test('a folder without models is a failure', async () => {
  const { code, errors } = await run('models', '--models', newFolder());
  expect(code).toBe(2);
  expect(errors.join()).toContain('no folder of');
});
