/** The characters that byte-level tokenizers use for the 256 bytes, as in GPT-2. */
function byteCharacters(): string[] {
  const isPrinted = (b: number): boolean =>
    (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || (b >= 174 && b <= 255);
  let next = 256;
  return Array.from({ length: 256 }, (_, b) => String.fromCharCode(isPrinted(b) ? b : next++));
}

const special = ['<|im_start|>', '<|im_end|>'];
const merges = ['h e', 'l l', 'he ll', 'hell o'];

/** The vocabulary of `tinyTokenizer`: 256 bytes, 4 merged tokens, and 2 special ones. */
export const TINY_VOCABULARY = 262;

/** `tokenizer.json` of a byte-level BPE with a few merges: the smallest that reads any text. */
export function tinyTokenizer(): Readonly<Record<string, unknown>> {
  const tokens = [...byteCharacters(), ...merges.map(pair => pair.replace(' ', ''))];
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  return {
    version: '1.0',
    added_tokens: special.map((content, n) => ({
      ...{ id: tokens.length + n, content, single_word: false, lstrip: false, rstrip: false },
      ...{ normalized: false, special: true },
    })),
    ...{ normalizer: null, pre_tokenizer: byteLevel, post_processor: byteLevel, decoder: byteLevel },
    model: {
      ...{ type: 'BPE', dropout: null, unk_token: null, fuse_unk: false, byte_fallback: false },
      ...{ continuing_subword_prefix: null, end_of_word_suffix: null, ignore_merges: false },
      vocab: Object.fromEntries(tokens.map((token, n) => [token, n])),
      merges,
    },
  };
}

/** `tokenizer_config.json` with the chat template that many models share (ChatML). */
export const tinyTokenizerConfig: Readonly<Record<string, unknown>> = {
  tokenizer_class: 'GPT2Tokenizer',
  eos_token: '<|im_end|>',
  chat_template:
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + eos_token + '\n' }}" +
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
};
