import { cpuEngine } from '@tilewise/core/cpu';
import { createModel, encodeSafetensors, readModel } from '@tilewise/nn';

const words = ['the', 'cat', 'sat', 'on', 'a', 'mat', 'and', 'dog', 'ran', 'off', '[UNK]'];

/** `config.json` of a Llama whose vocabulary is a few words. */
export const tinyConfig = {
  ...{ model_type: 'llama', vocab_size: words.length, hidden_size: 16, intermediate_size: 24 },
  ...{ num_hidden_layers: 2, num_attention_heads: 2, num_key_value_heads: 1, tie_word_embeddings: false },
};

const tokenizer = {
  ...{ version: '1.0', truncation: null, padding: null, added_tokens: [] },
  ...{ normalizer: null, post_processor: null, decoder: null },
  pre_tokenizer: { type: 'Whitespace' },
  model: {
    type: 'WordLevel',
    vocab: Object.fromEntries(words.map((word, n) => [word, n])),
    unk_token: '[UNK]',
  },
};

/** A text of those words that a model can learn. */
export const tinyText: string = 'the cat sat on a mat and the dog ran off '.repeat(4);

/** The files of a checkpoint with random weights, by name. */
export function tinyCheckpoint(): Record<string, string | Uint8Array<ArrayBuffer>> {
  const { weights } = createModel(readModel(tinyConfig), {
    engine: cpuEngine({ threads: 1 }),
    deviation: 0.3,
  });
  return {
    'config.json': JSON.stringify(tinyConfig),
    'model.safetensors': encodeSafetensors(weights),
    'tokenizer.json': JSON.stringify(tokenizer),
  };
}
