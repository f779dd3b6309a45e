import { Tensor } from '@tilewise/core';
import { add } from '@tilewise/graph/ops';
import { type Architecture, weightNames } from './architecture.ts';
import { encoderStates, readEncoder } from './transformer/encoder.ts';
import { activations } from './transformer/feed-forward.ts';
import { norm } from './transformer/norm.ts';
import { embedding, integers, linear, product, weight } from './transformer/scope.ts';

/** BERT (arXiv:1810.04805) with its head for masked tokens. */
export const bert: Architecture = {
  modelType: 'bert',
  read: config => {
    const dim = config.integer('hidden_size', 768);
    const vocabulary = config.integer('vocab_size', 30_522);
    const positions = config.integer('max_position_embeddings', 512);
    const types = config.integer('type_vocab_size', 2);
    config.only('is_decoder', false);
    config.only('add_cross_attention', false);
    config.only('position_embedding_type', 'absolute');
    const padding = config.integerOrNull('pad_token_id', 0, -1);
    const tied = config.flag('tie_word_embeddings', true);
    const stored = { bias: true };
    const table = readEncoder(config, {
      ...{ model: 'bert', dim, attention: 'attention.self', inputs: stored },
      norms: ['attention.output.LayerNorm', 'output.LayerNorm'],
      order: 'after',
    });
    const { activation } = table.feedForward;
    const embeddings = 'bert.embeddings.';
    const words = `${embeddings}word_embeddings.weight`;
    const head = 'cls.predictions';
    return {
      kind: 'masked',
      vocabulary,
      limits: { positions, tokenTypes: types },
      logits: (scope, { tokens, lengths, tokenTypes }) => {
        const [, S] = tokens.shape;
        const places = integers(Array.from({ length: S }, (_, n) => n));
        const first = Tensor.zeros([S], { dtype: 'i32' });
        const parts = [
          embedding(scope, words, [vocabulary, dim], tokens, padding),
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
        if (!tied) return linear(scope, normed, `${head}.decoder`, vocabulary, stored);
        const scores = product(scope, normed, scope.parameter(words, [vocabulary, dim]));
        return add(scores, weight(scope, `${head}.bias`, [vocabulary], 0));
      },
      ...weightNames({
        tied: tied ? { [`${head}.decoder.weight`]: words, [`${head}.decoder.bias`]: `${head}.bias` } : {},
        base: 'bert.',
        parts: ['embeddings.', 'encoder.', 'pooler.'],
        // Files of transformers hold both biases; an untied head has its own.
        ignored: [
          /^(bert\.pooler|cls\.seq_relationship)\.|\.position_ids$/,
          ...(tied ? [] : [/^cls\.predictions\.bias$/]),
        ],
        renamed: [
          ['.gamma', '.weight'],
          ['.beta', '.bias'],
        ],
      }),
    };
  },
};
