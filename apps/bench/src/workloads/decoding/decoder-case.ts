/** The sizes of a decoder that is measured. */
export interface DecoderSizes {
  readonly vocabulary: number;
  readonly dim: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly hidden: number;
}

/** 28 million weights: 111 MB in f32, more than caches hold. A GPT-2 has 32 million. */
export const decoderSizes: DecoderSizes = {
  ...{ vocabulary: 8192, dim: 512, layers: 8, heads: 8, kvHeads: 4, hidden: 1408 },
};

export const ROPE_BASE = 10_000;
export const NORM_EPSILON = 1e-5;
const MAX_POSITIONS = 4096;

/** The architectures: a Llama stores the transposes of its weights, and a GPT-2 the weights themselves. */
export const architectures = ['llama', 'gpt2'] as const;
export type Architecture = (typeof architectures)[number];

/** `config.json` of a decoder. */
export function configOf(
  { vocabulary, dim, layers, heads, kvHeads, hidden }: DecoderSizes,
  architecture: Architecture = 'llama',
): Readonly<Record<string, string | number | boolean>> {
  if (architecture === 'gpt2') {
    return {
      ...{ model_type: 'gpt2', vocab_size: vocabulary, n_embd: dim, n_layer: layers, n_head: heads },
      ...{ n_positions: MAX_POSITIONS, layer_norm_epsilon: NORM_EPSILON },
    };
  }
  return {
    ...{ model_type: 'llama', vocab_size: vocabulary, hidden_size: dim, num_hidden_layers: layers },
    ...{ num_attention_heads: heads, num_key_value_heads: kvHeads, intermediate_size: hidden },
    ...{ rms_norm_eps: NORM_EPSILON, rope_theta: ROPE_BASE, tie_word_embeddings: true },
    max_position_embeddings: MAX_POSITIONS,
  };
}

/** A text of the given number of tokens. */
export function promptOf({ vocabulary }: DecoderSizes, length: number): number[] {
  return Array.from({ length }, (_, n) => (n * 37 + ((n * n) >> 3)) % vocabulary);
}
