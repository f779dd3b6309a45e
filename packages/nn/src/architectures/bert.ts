import { Tensor } from '@tilewise/core';
import { add, matmul } from '@tilewise/graph/ops';
import { type Architecture, canonicalName } from './architecture.ts';
import { type EncoderTable, encoderStates } from './transformer/encoder.ts';
import { activationNames, activations } from './transformer/feed-forward.ts';
import { norm } from './transformer/norm.ts';
import { embedding, linear, weight } from './transformer/scope.ts';

/** BERT (arXiv:1810.04805) with its head for hidden tokens. */
export const bert: Architecture = {
  modelType: 'bert',
  read: config => {
    const dim = config.integer('hidden_size', 768);
    const heads = config.integer('num_attention_heads', 12);
    const vocabulary = config.integer('vocab_size', 30_522);
    const positions = config.integer('max_position_embeddings', 512);
    const types = config.integer('type_vocab_size', 2);
    const activation = config.oneOf('hidden_act', activationNames, 'gelu');
    config.only('is_decoder', false);
    config.only('add_cross_attention', false);
    config.only('position_embedding_type', 'absolute');
    config.only('tie_word_embeddings', true);
    const stored = { bias: true };
    const table: EncoderTable = {
      layers: config.integer('num_hidden_layers', 12),
      prefix: layer => `bert.encoder.layer.${layer}.`,
      attention: {
        ...{ heads, kvHeads: heads, headDim: dim / heads, causal: false },
        qkv: ['attention.self.query', 'attention.self.key', 'attention.self.value'],
        o: 'attention.output.dense',
        inputs: stored,
        output: stored,
      },
      feedForward: {
        hidden: config.integer('intermediate_size', 3072),
        ...{ activation, up: 'intermediate.dense', down: 'output.dense', ...stored },
      },
      norm: { kind: 'layer', epsilon: config.number('layer_norm_eps', 1e-12) },
      norms: ['attention.output.LayerNorm', 'output.LayerNorm'],
      order: 'after',
    };
    const words = 'bert.embeddings.word_embeddings.weight';
    const head = 'cls.predictions';
    return {
      kind: 'masked',
      vocabulary,
      logits: (scope, { tokens, lengths, tokenTypes }) => {
        const [, S] = tokens.shape;
        const places = Tensor.from(
          Array.from({ length: S }, (_, n) => n),
          [S],
          { dtype: 'i32' },
        );
        const embeddings = 'bert.embeddings.';
        const first = Tensor.zeros([S], { dtype: 'i32' });
        const parts = [
          embedding(scope, words, [vocabulary, dim], tokens),
          embedding(scope, `${embeddings}position_embeddings.weight`, [positions, dim], places),
          embedding(scope, `${embeddings}token_type_embeddings.weight`, [types, dim], tokenTypes ?? first),
        ];
        const embedded = norm(
          scope,
          parts.reduce((a, b) => add(a, b)),
          `${embeddings}LayerNorm`,
          table.norm,
        );
        const states = encoderStates(scope, table, embedded, lengths);
        const hidden = activations[activation](linear(scope, states, `${head}.transform.dense`, dim, stored));
        const normed = norm(scope, hidden, `${head}.transform.LayerNorm`, table.norm);
        const scores = matmul(normed, weight(scope, words, [vocabulary, dim]), { transposeB: true });
        return add(scores, weight(scope, `${head}.bias`, [vocabulary], 0));
      },
      canonical: canonicalName({
        base: 'bert.',
        parts: ['embeddings.', 'encoder.', 'pooler.'],
        ignored: [
          /^bert\.pooler\./,
          /^cls\.seq_relationship\./,
          /^cls\.predictions\.decoder\./,
          /\.position_ids$/,
        ],
        renamed: [
          [/\.gamma$/, '.weight'],
          [/\.beta$/, '.bias'],
        ],
      }),
    };
  },
};
