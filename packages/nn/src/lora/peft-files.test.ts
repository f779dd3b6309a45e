import { expect, test } from 'vitest';
import { readLoraConfig } from './peft-files.ts';

const written = { peft_type: 'LORA', r: 4, lora_alpha: 8, target_modules: ['q_proj'] };

test('options of peft that are at their defaults, or empty, are read', () => {
  const defaults = {
    rank_pattern: {},
    alpha_pattern: {},
    exclude_modules: [],
    use_dora: false,
    bias: 'none',
  };
  expect(readLoraConfig({ ...written, ...defaults, modules_to_save: null })).toEqual({
    ...{ rank: 4, alpha: 8, dropout: 0, targets: ['q_proj'], rankStabilised: false },
  });
});

test.each<readonly [Record<string, unknown>, string]>([
  [{ rank_pattern: { q_proj: 2 } }, ' has rank_pattern: {"q_proj":2}, which is not supported'],
  [{ alpha_pattern: { v_proj: 2 } }, ' has alpha_pattern: {"v_proj":2}, which is not supported'],
  [{ layers_to_transform: 0 }, ' has layers_to_transform: 0, which is not supported'],
  [{ use_dora: true }, ' has use_dora: true, which is not supported'],
  [{ init_lora_weights: 'pissa' }, ' has init_lora_weights: "pissa", which changes the weights of the model'],
  [{ target_modules: '.*_proj' }, ': target_modules must be an array of strings, got ".*_proj"'],
  [{ r: 0 }, ': r must be an integer ≥ 1, got 0'],
])('an adapter with %j is refused, and the message names its file', (given, message) => {
  expect(() => readLoraConfig({ ...written, ...given })).toThrow(`adapter_config.json${message}`);
});
