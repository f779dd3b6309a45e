import { expect, test } from 'vitest';
import { TINY_VOCABULARY, tinyTokenizer, tinyTokenizerConfig } from '../../testing/tiny-tokenizer.ts';
import { CheckpointError } from '../files/sources/checkpoint-error.ts';
import { givenFiles } from '../files/sources/model-files.ts';
import { type ChatMessage, loadTokenizer } from './index.ts';

const filesOf = (files: Readonly<Record<string, unknown>>) =>
  givenFiles(
    Object.entries(files).map(
      ([name, content]) => new File([typeof content === 'string' ? content : JSON.stringify(content)], name),
    ),
    'the model',
  );
const load = (config: object = tinyTokenizerConfig) =>
  loadTokenizer(filesOf({ 'tokenizer.json': tinyTokenizer(), 'tokenizer_config.json': config }));

test('a text is encoded to tokens, and tokens are decoded to the text', async () => {
  const tokenizer = await load();
  expect(tokenizer.encode('hello!')).toEqual([259, 33]);
  for (const text of ['hello, hell\nheld', 'Grüße 🙂', ''])
    expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
  expect(tokenizer.encode('hello<|im_end|>')).toEqual([259, TINY_VOCABULARY - 1]);
  expect(tokenizer.decode([259, TINY_VOCABULARY - 1])).toBe('hello');
});

test('a value that is not a string, or not a token, is refused', async () => {
  const tokenizer = await load();
  expect(() => tokenizer.encode(3 as never)).toThrow(/^text must be a string, got 3/);
  expect(() => tokenizer.decode('259' as never)).toThrow(/^tokens must be integers, got "259"/);
  expect(() => tokenizer.stream().push(undefined as never)).toThrow(/^tokens must be integers/);
});

test.each([
  ['cannot be read', { type: 'TemplateProcessing' }],
  ['adds tokens that are not numbers', { type: 'BertProcessing', cls: 5, sep: 5 }],
])('encode names a tokenizer.json whose post-processor %s', async (_, post_processor) => {
  const damaged = { ...tinyTokenizer(), post_processor };
  const tokenizer = await loadTokenizer(filesOf({ 'tokenizer.json': damaged }));
  expect(() => tokenizer.encode('hello')).toThrow(CheckpointError);
  expect(() => tokenizer.encode('hello')).toThrow(/tokenizer.json/);
});

test.each<readonly [string, object, string, readonly string[]]>([
  ['digits of any script, one by one', { type: 'Digits', individual_digits: true }, 'x ²٣', ['x ', '²', '٣']],
  ['numbers of any script', { type: 'Digits', individual_digits: false }, 'x ²٣', ['x ', '²٣']],
  ['each punctuation mark', { type: 'Punctuation' }, 'x!?«', ['x', '!', '?', '«']],
  ['runs of punctuation', { type: 'Punctuation', behavior: 'Contiguous' }, 'x!?«', ['x', '!?«']],
  ['words, which are left', { type: 'Punctuation', behavior: 'Removed' }, 'x!?y', ['x', 'y']],
  ['words and signs of any script', { type: 'Whitespace' }, 'naïve 你好٣_ «!', ['naïve', '你好٣_', '«!']],
  ...(
    [
      ['marks with the text before them', 'MergedWithPrevious', false, ['a.', '.', 'b.', 'c']],
      ['marks with the text after them', 'MergedWithNext', false, ['a', '.', '.b', '.c']],
      ['text with the mark before it', 'MergedWithPrevious', true, ['a', '.', '.b', '.c']],
      ['text with the mark after it', 'MergedWithNext', true, ['a.', '.', 'b.', 'c']],
      ['runs of marks', 'Contiguous', false, ['a', '..', 'b', '.', 'c']],
    ] as const
  ).map(([name, behavior, invert, pieces]) => {
    const part = { type: 'Split', pattern: { String: '.' }, behavior, invert };
    return [name, part, 'a..b.c', pieces] as const;
  }),
  [
    'what a pattern matches and what it does not',
    { type: 'Split', pattern: { Regex: '\\.+|!' }, behavior: 'Isolated', invert: true },
    'a..b!c',
    ['a', '..', 'b', '!', 'c'],
  ],
])('a pre-tokenizer splits off %s', async (_, part, text, pieces) => {
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false };
  const base = tinyTokenizer();
  const { vocab, ...rest } = base.model as { readonly vocab: Readonly<Record<string, number>> };
  const characters = new Map(Object.entries(vocab).map(([character, byte]) => [byte, character]));
  const spelled = (piece: string) =>
    [...new TextEncoder().encode(piece)].map(b => characters.get(b)).join('');
  // Each piece is a token, and so is the whole text.
  const added = [...pieces, text].map((piece, n) => [spelled(piece), TINY_VOCABULARY + n]);
  const model = { ...rest, ignore_merges: true, vocab: { ...vocab, ...Object.fromEntries(added) } };
  const pre_tokenizer = { type: 'Sequence', pretokenizers: [part, bytes] };
  const tokenizer = await loadTokenizer(filesOf({ 'tokenizer.json': { ...base, model, pre_tokenizer } }));
  const tokens = tokenizer.encode(text);
  expect(tokens.map(token => tokenizer.decode([token]))).toEqual(pieces);
});

test('a tokenizer with a token that is part of no other word is refused', async () => {
  const added_tokens = [{ id: 0, content: 'a', single_word: true }];
  await expect(
    loadTokenizer(filesOf({ 'tokenizer.json': { ...tinyTokenizer(), added_tokens } })),
  ).rejects.toThrow("tokenizer.json is damaged or not supported: the added token 'a' has single_word");
});

test('encode names a tokenizer.json that gives a text a negative token', async () => {
  const added_tokens = [{ id: -1, content: '<x>', special: true }];
  const tokenizer = await loadTokenizer(filesOf({ 'tokenizer.json': { ...tinyTokenizer(), added_tokens } }));
  expect(() => tokenizer.encode('<x>')).toThrow(CheckpointError);
});

test('a WordLevel tokenizer has a token for each word, and one for all unknown words', async () => {
  const vocab = { '[UNK]': 0, cat: 1, cats: 2, '!': 3 };
  const json = {
    ...{ added_tokens: [], normalizer: null, post_processor: null, decoder: null },
    pre_tokenizer: { type: 'Whitespace' },
    model: { type: 'WordLevel', vocab, unk_token: '[UNK]' },
  };
  const { encode, decode } = await loadTokenizer(filesOf({ 'tokenizer.json': json }));
  expect(encode('cats catcats s cat! a-very-long-word')).toEqual([2, 0, 0, 1, 3, 0, 0, 0, 0, 0, 0, 0]);
  expect(decode([1, 3])).toBe('cat !');
});

test('a tokenizer without a pre-tokenizer may leave the entry out', async () => {
  const { pre_tokenizer: _, ...rest } = tinyTokenizer();
  const [tokenizer, same] = await Promise.all(
    [rest, { ...rest, pre_tokenizer: null }].map(json => loadTokenizer(filesOf({ 'tokenizer.json': json }))),
  );
  expect(tokenizer.encode('hello')).toEqual(same.encode('hello'));
});

test('a conversation is written by the template of the model', async () => {
  const messages: ChatMessage[] = [{ role: 'user', content: 'hello' }];
  const tokenizer = await load();
  const expected = '<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n';
  expect(tokenizer.chat(messages)).toEqual(tokenizer.encode(expected, { addSpecialTokens: false }));
  const listed = await load({ chat_template: [{ name: 'default', template: '{{ messages[0].content }}' }] });
  expect(listed.decode(listed.chat(messages))).toBe('hello');
  const asking = await load({
    chat_template: '{% if tools is not none or documents is not none %}x{% endif %}hello',
  });
  expect(asking.decode(asking.chat(messages))).toBe('hello');
  const own = await loadTokenizer(
    filesOf({ 'tokenizer.json': tinyTokenizer(), 'chat_template.jinja': '{{ messages[0].role }}' }),
  );
  expect(own.decode(own.chat(messages))).toBe('user');
});

test('a template gets every special token of the model, and no others', async () => {
  const config = {
    ...{
      sep_token: 'hello',
      mask_token: { content: '!', special: true },
      add_bos_token: true,
      pad_token: null,
    },
    chat_template: '{{ sep_token }}{{ mask_token }}{{ bos_token is defined or pad_token is defined }}',
  };
  const tokenizer = await load(config);
  expect(tokenizer.decode(tokenizer.chat([]))).toBe('hello!false');
});

test('tokens that come one by one become whole characters', async () => {
  const tokenizer = await load();
  const text = 'hello\n🙂 ü';
  const stream = tokenizer.stream();
  const parts = tokenizer.encode(text).map(token => stream.push(token));
  expect(parts.join('')).toBe(text);
  expect(parts.filter(part => part.includes('\ufffd'))).toEqual([]);
  expect(parts).toContain('🙂');
  expect(stream.end()).toBe('');
});

test('a text that ends with an incomplete character gets the rest at its end', async () => {
  const tokenizer = await load();
  const tokens = tokenizer.encode('ü').slice(0, -1);
  const stream = tokenizer.stream();
  expect(tokens.map(token => stream.push(token)).join('')).toBe('');
  expect(stream.end()).toBe(tokenizer.decode(tokens));
  expect(tokenizer.decode(tokens)).toContain('\ufffd');
  expect(stream.end()).toBe('');
});

test('spaces before punctuation stay, whatever the files of a BPE say', async () => {
  const text = "it 's . fine , ok ?";
  for (const given of [{}, { clean_up_tokenization_spaces: true }]) {
    const tokenizer = await load({ ...tinyTokenizerConfig, ...given });
    const tokens = tokenizer.encode(text);
    expect(tokenizer.decode(tokens)).toBe(text);
    const stream = tokenizer.stream();
    expect(tokens.map(token => stream.push(token)).join('')).toBe(text);
  }
});

test('lines keep the spaces that they begin with, whose first one a decoder removes from a text', async () => {
  const space = '\u2581';
  const json = {
    ...tinyTokenizer(),
    ...{ pre_tokenizer: null, post_processor: null },
    added_tokens: [{ id: 4, content: '<end>', special: true, normalized: false }],
    // As in Llama 2.
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'Prepend', prepend: space },
        { type: 'Replace', pattern: { String: ' ' }, content: space },
      ],
    },
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: space }, content: ' ' },
        { type: 'Fuse' },
        { type: 'Strip', content: ' ', start: 1, stop: 0 },
      ],
    },
    model: { type: 'BPE', vocab: { [space]: 0, a: 1, ':': 2, '\n': 3, '<end>': 4 }, merges: [] },
  };
  const tokenizer = await loadTokenizer(filesOf({ 'tokenizer.json': json }));
  const text = 'a:\n  a\n a\n\na';
  const tokens = tokenizer.encode(text);
  expect(tokenizer.decode(tokens)).toBe(text);
  const stream = tokenizer.stream();
  // Special tokens have no text, wherever they are.
  const parts = tokens.map(token => stream.push(token) + stream.push(4));
  expect(parts.join('')).toBe(text);
});

test('the error of a missing or damaged file names the file', async () => {
  await expect(loadTokenizer(filesOf({}))).rejects.toThrow('the model has no tokenizer.json');
  await expect(loadTokenizer(filesOf({ 'tokenizer.json': {} }))).rejects.toThrow('tokenizer.json');
  const wrong: readonly [change: object, message: string][] = [
    [
      { normalizer: { type: 'Nmt' } },
      'tokenizer.json is damaged or not supported: Unknown Normalizer type: Nmt',
    ],
    [{ model: { type: 'Chars', vocab: {} } }, "tokenizer.json: model.type must be 'BPE', 'WordPiece',"],
  ];
  for (const [change, message] of wrong)
    await expect(
      loadTokenizer(filesOf({ 'tokenizer.json': { ...tinyTokenizer(), ...change } })),
    ).rejects.toThrow(message);
  await expect(load({ chat_template: '{% for %}' })).rejects.toThrow(
    'chat_template is not a valid Jinja template',
  );
  await expect(load({ chat_template: 3 })).rejects.toThrow('tokenizer_config.json: chat_template must be');
  const without = await load({});
  expect(() => without.chat([{ role: 'user', content: 'a' }])).toThrow('has no chat_template');
  const strict = await load({ chat_template: "{{ raise_exception('roles must alternate') }}" });
  expect(() => strict.chat([])).toThrow('roles must alternate');
});
