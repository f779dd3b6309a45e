import type { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { drawWeights, filesOf, tinyLlama } from '../../../testing/tiny-model.ts';
import { loadModel } from '../../load-model.ts';
import type { LabelledBatch } from '../../model/labels.ts';
import { createTrainer } from '../../training/trainer.ts';

const engine = cpuEngine();
const text = [1, 3, 2, 3, 5];
const batch = { inputs: { tokens: [text] }, labels: [text] };

/** The loss, and rows of the gradients of all weights by name. */
async function gradientsOf(config: Readonly<Record<string, unknown>>, labelled: LabelledBatch = batch) {
  const weights = drawWeights({ ...config, tie_word_embeddings: false });
  const head = weights.get('model.embed_tokens.weight');
  if (head) weights.set('lm_head.weight', head);
  const model = await loadModel(filesOf(config, weights), { engine });
  const { loss, gradients } = await createTrainer(model, { learningRate: 1 }).gradients(labelled);
  const rowsOf = (tensor: Tensor): number[][] => {
    const width = tensor.shape[tensor.shape.length - 1];
    const values = [...tensor.toFloat64()];
    return Array.from({ length: values.length / width }, (_, n) => values.slice(n * width, (n + 1) * width));
  };
  return { loss, rows: (name: string) => rowsOf(gradients.get(name) as Tensor) };
}

test('a padding token inside a text passes no gradient to its embedding, as in transformers', async () => {
  const name = 'model.embed_tokens.weight';
  const plain = await gradientsOf(tinyLlama);
  const padded = await gradientsOf({ ...tinyLlama, pad_token_id: 3 });
  expect(padded.loss).toBe(plain.loss);
  const expected = plain.rows(name).map((row, token) => (token === 3 ? row.map(() => 0) : row));
  expect(expected).not.toEqual(plain.rows(name));
  expect(padded.rows(name)).toEqual(expected);

  const tied = await gradientsOf({ ...tinyLlama, pad_token_id: 3, tie_word_embeddings: true });
  const head = plain.rows('lm_head.weight');
  for (const [token, row] of tied.rows(name).entries())
    for (const [n, x] of row.entries()) expect(x).toBeCloseTo(expected[token][n] + head[token][n], 6);
});

test.each([
  ['no token', { pad_token_id: null }, false],
  ['-1, for no token', { pad_token_id: -1 }, false],
  ['a token', { pad_token_id: 3 }, true],
  ['0, its default', {}, false],
])('the padding token of BERT may be %s', async (_, option, isPadding) => {
  const bert = {
    ...{ model_type: 'bert', vocab_size: 11, hidden_size: 8, num_hidden_layers: 1, intermediate_size: 12 },
    ...{ num_attention_heads: 2, max_position_embeddings: 8, tie_word_embeddings: false, ...option },
  };
  const { rows } = await gradientsOf(bert, { ...batch, inputs: { tokens: [[0, 3, 2, 3, 5]] } });
  const isFrozen = rows('bert.embeddings.word_embeddings.weight').map(row => row.every(x => x === 0));
  expect(isFrozen[3]).toBe(isPadding);
  expect(isFrozen[0]).toBe(!('pad_token_id' in option));
});
