import { Tensor } from '@tilewise/core';
import { add, concat, reshape, slice, transpose, type Variable } from '@tilewise/graph/ops';
import { type Architecture, weightNames } from './architecture.ts';
import { encoderStates, readEncoder } from './transformer/encoder.ts';
import { norm } from './transformer/norm.ts';
import { linear, product, weight } from './transformer/scope.ts';

/**
 * Patches (B, n, channels·p·p) of images (B, channels, size, size), as a convolution of stride p reads them.
 */
function patches(pixels: Variable, p: number): Variable {
  const [B, channels, height, width] = pixels.shape;
  const [rows, columns] = [height / p, width / p];
  const parts = transpose(reshape(pixels, [B, channels, rows, p, columns, p]), [0, 2, 4, 1, 3, 5]);
  return reshape(parts, [B, rows * columns, channels * p * p]);
}

/** ViT (arXiv:2010.11929) with its head for image classes. */
export const vit: Architecture = {
  modelType: 'vit',
  read: config => {
    const dim = config.integer('hidden_size', 768);
    const imageSize = config.integer('image_size', 224);
    const channels = config.integer('num_channels', 3);
    const p = config.integer('patch_size', 16);
    config.checkDivides('patch_size', p, 'image_size', imageSize);
    const classes = config.integer('num_labels', config.object('id2label')?.size ?? 2);
    const table = readEncoder(config, {
      ...{ model: 'vit', dim, attention: 'attention.attention' },
      inputs: { bias: config.flag('qkv_bias', true) },
      norms: ['layernorm_before', 'layernorm_after'],
      order: 'before',
    });
    const embeddings = 'vit.embeddings.';
    const projection = `${embeddings}patch_embeddings.projection`;
    return {
      kind: 'image',
      ...{ channels, imageSize, classes },
      logits: (scope, pixels) => {
        const [B] = pixels.shape;
        const flat = patches(pixels, p);
        const [, count, size] = flat.shape;
        const kernel = reshape(scope.parameter(`${projection}.weight`, [dim, channels, p, p]), [dim, size]);
        const embedded = add(product(scope, flat, kernel), weight(scope, `${projection}.bias`, [dim], 0));
        // The same class token before the patches of every image.
        const token = add(Tensor.zeros([B, 1, dim]), weight(scope, `${embeddings}cls_token`, [1, 1, dim]));
        const placed = add(
          concat([token, embedded], { axis: 1 }),
          weight(scope, `${embeddings}position_embeddings`, [1, count + 1, dim]),
        );
        const states = norm(scope, encoderStates(scope, table, placed), 'vit.layernorm', table.norm);
        const first = reshape(slice(states, { axis: 1, start: 0, size: 1 }), [B, dim]);
        return linear(scope, first, 'classifier', classes, { bias: true });
      },
      ...weightNames({
        base: 'vit.',
        parts: ['embeddings.', 'encoder.', 'layernorm.', 'pooler.'],
        ignored: [/^vit\.pooler\./],
        // The names that transformers has used in memory since version 5; files keep the old names.
        renamed: [
          ['vit.layers.', 'vit.encoder.layer.'],
          ['q_proj', 'attention.query'],
          ['k_proj', 'attention.key'],
          ['v_proj', 'attention.value'],
          ['o_proj', 'output.dense'],
          ['mlp.fc1', 'intermediate.dense'],
          ['mlp.fc2', 'output.dense'],
        ],
      }),
    };
  },
};
