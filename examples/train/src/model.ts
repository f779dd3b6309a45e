import type { ModelDefinition } from '@tilewise/nn';
import type { TrainConfig } from './config.ts';

/**
 * A decoder: embeddings of tokens and positions, and in each layer causal attention with ALiBi and an MLP
 * with GELU, each after an RMSNorm. Matrices are (in, out).
 */
export function decoderOf(
  { layers, heads, dim, context, dropout }: TrainConfig,
  vocabulary: number,
): ModelDefinition {
  const stored = { transposed: true };
  const qkv = ['attention.q', 'attention.k', 'attention.v'] as const;
  const attention = { heads, kvHeads: heads, headDim: dim / heads, causal: true, alibi: true, dropout };
  return {
    kind: 'causal',
    decoder: {
      ...{ vocabulary, dim, layers, embedding: { name: 'tokens.weight' } },
      positions: { name: 'positions.weight', count: context },
      norm: { kind: 'rms', epsilon: 1e-5 },
      prefix: layer => `layers.${layer}.`,
      attention: () => ({ ...attention, qkv, o: 'attention.o', inputs: stored, output: stored }),
      feedForward: { hidden: 4 * dim, activation: 'gelu_new', up: 'mlp.up', down: 'mlp.down', ...stored },
      norms: { beforeAttention: 'attention.norm', beforeFeedForward: 'mlp.norm' },
      ...{ finalNorm: 'norm', head: 'logits' },
    },
    canonical: name => name,
  };
}

/** The initial standard deviation of a weight, chosen so that each matrix preserves the size of its input. */
export function deviationOf(name: string, [rows, columns]: readonly number[]): number {
  if (name === 'tokens.weight') return 1;
  if (name === 'positions.weight') return 0.1;
  return 1 / Math.sqrt(name === 'logits.weight' ? columns : rows);
}
