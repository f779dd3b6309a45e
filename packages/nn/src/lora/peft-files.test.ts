import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { loadAdapter, readLoraConfig } from './peft-files.ts';

const written = { peft_type: 'LORA', r: 4, lora_alpha: 8, target_modules: ['q_proj'] };

test('options of peft that are at their defaults, or empty, are read', () => {
  const defaults = {
    rank_pattern: {},
    alpha_pattern: {},
    exclude_modules: [],
    use_dora: false,
    bias: 'none',
    // Options that change nothing, although peft does not write null for them.
    ...{ peft_version: '0.21.0', megatron_core: 'megatron.core', qalora_group_size: 16 },
    a_flag_of_a_later_version: false,
    ...{ fan_in_fan_out: true, task_type: 'CAUSAL_LM', base_model_name_or_path: 'a/b', inference_mode: true },
  };
  expect(readLoraConfig({ ...written, ...defaults, modules_to_save: null })).toEqual({
    ...{ rank: 4, alpha: 8, dropout: 0, targets: ['q_proj'], rankStabilised: false },
  });
});

test.each<readonly [Record<string, unknown>, string]>([
  [{ rank_pattern: { q_proj: 2 } }, ': rank_pattern is not supported'],
  [{ alpha_pattern: { v_proj: 2 } }, ': alpha_pattern is not supported'],
  [{ layers_to_transform: 0 }, ': layers_to_transform is not supported'],
  [{ modules_to_save: ['lm_head'] }, ': modules_to_save is not supported'],
  [{ kasa_config: { beta: 1e-4 } }, ': kasa_config is not supported'],
  [{ an_option_of_a_later_version: true }, ': an_option_of_a_later_version is not supported'],
  [{ use_dora: true }, ': use_dora is true, and only false is supported'],
  [{ bias: 'all' }, ': bias is "all", and only "none" is supported'],
  [{ init_lora_weights: 'pissa' }, ': init_lora_weights is "pissa", which changes the weights of the model'],
  [{ target_modules: '.*_proj' }, ': target_modules must be a non-empty array of strings, got'],
  [{ target_modules: [] }, ': target_modules must be a non-empty array of strings, got []'],
  [{ target_modules: null }, ': target_modules is missing'],
  [{ r: 0 }, ': r must be an integer ≥ 1, got 0'],
  [{ lora_alpha: '8' }, ': lora_alpha must be a number, got "8"'],
  [{ lora_dropout: 1 }, ': lora_dropout must be in [0, 1), got 1'],
])('an adapter with %j is refused, and the message names its file', (given, message) => {
  expect(() => readLoraConfig({ ...written, ...given })).toThrow(`adapter_config.json${message}`);
});

test('the weights of an adapter whose options are refused are not opened', async () => {
  const opened: string[] = [];
  const files = {
    name: 'an adapter',
    open: async (file: string) => {
      opened.push(file);
      return new TextEncoder().encode(JSON.stringify({ ...written, r: 0 }));
    },
  };
  await expect(loadAdapter(files, new Map(), cpuEngine({ threads: 1 }))).rejects.toThrow(
    'r must be an integer',
  );
  expect(opened).toEqual(['adapter_config.json']);
});
