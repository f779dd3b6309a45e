import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { filesOf, tinyLlama } from '../../testing/tiny-model.ts';
import { adapterFiles, loadModel } from '../index.ts';

const config = { rank: 2, alpha: 4, targets: ['q_proj'], dropout: 0, rankStabilised: false };

test('a model refuses an adapter of layers that it does not have, and keeps the previous one', async () => {
  const model = await loadModel(filesOf(tinyLlama), { engine: cpuEngine() });
  const previous = { config, tensors: {} };
  model.adapter = previous;
  const others = { 'h.0.attn.c_attn.lora_A.weight': Tensor.zeros([2, 4]) };
  const refused = [
    [Promise.resolve(previous), 'adapter must be an object of config, tensors, got Promise'],
    [undefined, 'adapter must be an object of config, tensors, got undefined'],
    [{ config }, 'adapter.tensors must be an object, got undefined'],
    [{ config, tensors: others }, "adapter has 'h.0.attn.c_attn.lora_A.weight', which is of no layer"],
  ] as const;
  for (const [adapter, message] of refused) {
    expect(() => {
      model.adapter = adapter as never;
    }).toThrow(message);
    expect(model.adapter).toBe(previous);
  }
});

test('a configuration that no adapter can have is not written', () => {
  const written = (options: object): unknown =>
    adapterFiles({ ...config, ...options }, new Map(), { transposed: false });
  expect(() => written({ rank: 0 })).toThrow('config.rank must be an integer ≥ 1, got 0');
  expect(() => written({ dropout: 2 })).toThrow('config.dropout must be in [0, 1), got 2');
  expect(() => written({ targets: undefined })).toThrow('config.targets must be a non-empty array of str');
});
