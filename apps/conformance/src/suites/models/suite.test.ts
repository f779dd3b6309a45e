import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tensor } from '@tilewise/core';
import { encodeSafetensors, readSafetensors } from '@tilewise/nn/checkpoint';
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
  expect(failed[1].reason).toContain("the gradient by 'classifier.bias'");
  expect(code).toBe(1);
});

test('a folder without models is a failure', async () => {
  const { code, errors } = await run('models', '--models', newFolder());
  expect(code).toBe(2);
  expect(errors.join()).toContain('no folder of');
});
