import { expect, test, vi } from 'vitest';
import { tinyTokenizer, tinyTokenizerConfig } from '../../../testing/tiny-tokenizer.ts';
import { givenFiles } from '../../files/sources/model-files.ts';
import { loadTokenizer } from '../index.ts';

test.each(['@huggingface/tokenizers', '@huggingface/jinja'])(
  'a tokenizer without %s says what to install',
  async name => {
    vi.resetModules();
    vi.doMock(name, () => {
      throw new Error('not installed');
    });
    const files = [
      new File([JSON.stringify(tinyTokenizer())], 'tokenizer.json'),
      new File([JSON.stringify(tinyTokenizerConfig)], 'tokenizer_config.json'),
    ];
    await expect(loadTokenizer(givenFiles(files, 'the model'))).rejects.toThrow(
      `this tokenizer needs the package ${name}, which cannot be loaded: npm install ${name}`,
    );
    vi.doUnmock(name);
  },
);
