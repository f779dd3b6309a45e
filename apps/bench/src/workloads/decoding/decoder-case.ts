/** The sizes of a Llama whose decoding is measured. */
export interface DecoderSizes {
  readonly vocabulary: number;
  readonly dim: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly hidden: number;
}

/** 28 million weights: 111 MB in f32, more than caches hold. */
export const decoderSizes: DecoderSizes = {
  ...{ vocabulary: 8192, dim: 512, layers: 8, heads: 8, kvHeads: 4, hidden: 1408 },
};

export const ROPE_BASE = 10_000;
export const NORM_EPSILON = 1e-5;

/** `config.json` of a Llama. */
export function configOf(sizes: DecoderSizes): Readonly<Record<string, string | number | boolean>> {
  const { vocabulary, dim, layers, heads, kvHeads, hidden } = sizes;
  return {
    ...{ model_type: 'llama', vocab_size: vocabulary, hidden_size: dim, num_hidden_layers: layers },
    ...{ num_attention_heads: heads, num_key_value_heads: kvHeads, intermediate_size: hidden },
    ...{ rms_norm_eps: NORM_EPSILON, rope_theta: ROPE_BASE, tie_word_embeddings: true },
    max_position_embeddings: 4096,
  };
}

/** A text of the given number of tokens. */
export function promptOf({ vocabulary }: DecoderSizes, length: number): number[] {
  return Array.from({ length }, (_, n) => (n * 37 + ((n * n) >> 3)) % vocabulary);
}
