import { Tensor } from '@tilewise/core';
import { PhiloxStream } from '@tilewise/philox';
import { readModel } from '../src/architectures/read-model.ts';
import { encodeSafetensors, givenFiles, type ModelFiles } from '../src/files/checkpoint/index.ts';
import { layersOf } from '../src/model/weights.ts';

type Json = Readonly<Record<string, unknown>>;

/** The smallest Llama with grouped heads. */
export const tinyLlama: Json = {
  model_type: 'llama',
  ...{
    vocab_size: 11,
    hidden_size: 8,
    num_hidden_layers: 2,
    intermediate_size: 12,
    max_position_embeddings: 32,
  },
  ...{ num_attention_heads: 2, num_key_value_heads: 1, rms_norm_eps: 1e-5 },
};

/** Weights of a configuration, drawn from a seed; norms are near 1. */
export function drawWeights(config: Json, seed = 1): Map<string, Tensor> {
  const shapes = [...layersOf(readModel(config)).weights];
  return new Map(
    shapes.map(([name, shape], n) => {
      const stream = new PhiloxStream(seed, { subsequence: BigInt(n) });
      const count = shape.reduce((product, extent) => product * extent, 1);
      const center = shape.length === 1 && name.endsWith('.weight') ? 1 : 0;
      const values = Float32Array.from({ length: count }, () => center + stream.nextUniform() - 0.5);
      return [name, Tensor.from(values, shape)];
    }),
  );
}

/** The files of a model. */
export function filesOf(
  config: Json,
  weights: ReadonlyMap<string, Tensor> = drawWeights(config),
): ModelFiles {
  const text = JSON.stringify(config);
  const bytes = new Uint8Array(encodeSafetensors(weights));
  return givenFiles([new File([text], 'config.json'), new File([bytes], 'model.safetensors')], 'the model');
}
