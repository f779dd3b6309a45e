import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuEngine } from '@tilewise/core/cpu';
import { createModel, encodeSafetensors, folderFiles, readModel } from '@tilewise/nn';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  TINY_VOCABULARY,
  tinyTokenizer,
  tinyTokenizerConfig,
} from '../../../packages/nn/testing/tiny-tokenizer.ts';
import { openChat } from './chat.ts';

const config = {
  ...{ model_type: 'llama', vocab_size: TINY_VOCABULARY, hidden_size: 16, num_hidden_layers: 1 },
  ...{ num_attention_heads: 2, intermediate_size: 24, eos_token_id: TINY_VOCABULARY - 1 },
};
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tilewise-chat-'));
  const { weights } = createModel(readModel(config), { engine: cpuEngine(), seed: 2, deviation: 0.3 });
  writeFileSync(join(folder, 'model.safetensors'), encodeSafetensors(weights));
  const files = { 'config.json': config, 'tokenizer.json': tinyTokenizer() };
  for (const [name, content] of Object.entries({ ...files, 'tokenizer_config.json': tinyTokenizerConfig }))
    writeFileSync(join(folder, name), JSON.stringify(content));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('an answer comes in parts, and becomes a message of the conversation', async () => {
  const chat = await openChat(
    folderFiles(folder),
    { engine: cpuEngine() },
    { maxNewTokens: 12, system: 'Be brief.' },
  );
  const parts: string[] = [];
  for await (const part of chat.say('hello')) parts.push(part);
  expect(parts.length).toBeGreaterThan(1);
  expect(chat.messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: parts.join('') },
  ]);
  // The next answer depends on the first one.
  let second = '';
  for await (const part of chat.say('hello')) second += part;
  expect(second).not.toBe(parts.join(''));
  chat.release();
});

test('a signal ends an answer, whose question leaves the conversation', async () => {
  const stop = new AbortController();
  const options = { maxNewTokens: 100, signal: stop.signal };
  const chat = await openChat(folderFiles(folder), { engine: cpuEngine() }, options);
  const answer = chat.say('hello');
  await answer.next();
  stop.abort(new Error('enough'));
  await expect(
    (async () => {
      for await (const _ of answer);
    })(),
  ).rejects.toThrow('enough');
  expect(chat.messages).toEqual([]);
  chat.release();
});

test('the program answers in a terminal', () => {
  const main = new URL('../dist/main.js', import.meta.url).pathname;
  const args = [main, '--model', folder, '--max-tokens', '8'];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    input: 'hello\n\n',
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  expect(stdout.length).toBeGreaterThan(3);
});
