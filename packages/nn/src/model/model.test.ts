import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { drawWeights, filesOf, tinyLlama } from '../../testing/tiny-model.ts';
import { CheckpointError } from '../files/checkpoint/index.ts';
import { loadModel } from '../load-model.ts';

const engine = cpuEngine();
const load = (weights = drawWeights(tinyLlama)) => loadModel(filesOf(tinyLlama, weights), { engine });
const changed = (change: (weights: Map<string, Tensor>) => void) => {
  const weights = drawWeights(tinyLlama);
  change(weights);
  return weights;
};

test('logits of a text do not depend on its padding or on other texts', async () => {
  const model = await load();
  const alone = (await model.logits({ tokens: [[1, 2, 3]] })).toFloat32();
  const padded = await model.logits({
    tokens: [
      [4, 5, 6, 7, 8],
      [1, 2, 3, 9, 9],
    ],
    lengths: [5, 3],
  });
  expect(padded.shape).toEqual([2, 5, 11]);
  const own = padded.toFloat32().slice(5 * 11, 8 * 11);
  for (const [n, x] of alone.entries()) expect(own[n]).toBeCloseTo(x, 5);
  model.release();
});

test('lengths that are null are those of whole rows', async () => {
  const model = await load();
  const tokens = [[1, 2, 3]];
  expect(await model.logits({ tokens, lengths: null as never })).toEqual(await model.logits({ tokens }));
});

test('padding may hold numbers that are not tokens', async () => {
  const model = await load();
  const expected = await model.logits({ tokens: [[1, 2, 0]], lengths: [2] });
  for (const padding of [-1, 11, 1e9])
    expect(await model.logits({ tokens: [[1, 2, padding]], lengths: [2] })).toEqual(expected);
  await expect(model.logits({ tokens: [[1, -1, 0]], lengths: [2] })).rejects.toThrow('from 0 to 10, got -1');
});

test.each([
  {
    model_type: 'bert',
    ...{ vocab_size: 11, hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 2 },
    ...{ intermediate_size: 12, max_position_embeddings: 4 },
  },
  { model_type: 'gpt2', vocab_size: 11, n_embd: 8, n_head: 2, n_layer: 1, n_positions: 4 },
])('a text longer than the positions of $model_type is refused', async config => {
  const model = await loadModel(filesOf(config), { engine });
  expect((await model.logits({ tokens: [[1, 2, 3, 4]] })).shape).toEqual([1, 4, 11]);
  await expect(model.logits({ tokens: [[1, 2, 3, 4, 5]] })).rejects.toThrow(
    'tokens must have rows of at most 4 positions, got 5',
  );
});

test('token types that BERT does not have are refused, and those of another shape', async () => {
  const model = await loadModel(
    filesOf({
      model_type: 'bert',
      ...{
        vocab_size: 11,
        hidden_size: 8,
        num_hidden_layers: 1,
        num_attention_heads: 2,
        intermediate_size: 12,
      },
    }),
    { engine },
  );
  expect((await model.logits({ tokens: [[1, 2]], tokenTypes: [[0, 1]] })).shape).toEqual([1, 2, 11]);
  await expect(model.logits({ tokens: [[1, 2]], tokenTypes: [[0, 2]] })).rejects.toThrow(
    'tokenTypes must be integers from 0 to 1, got 2',
  );
  await expect(model.logits({ tokens: [[1, 2]], tokenTypes: [[0]] })).rejects.toThrow(
    'tokenTypes must have shape [1,2], got [1,1]',
  );
});

test('a tied head may be in the file, but only with the numbers of the embedding', async () => {
  const config = { ...tinyLlama, tie_word_embeddings: true };
  const weights = drawWeights(config);
  const embedding = weights.get('model.embed_tokens.weight') as Tensor;
  const expected = await (await loadModel(filesOf(config, weights), { engine })).logits({ tokens: [[1, 2]] });
  const repeated = (head: Tensor) => filesOf(config, new Map([...weights, ['lm_head.weight', head]]));
  const model = await loadModel(repeated(embedding), { engine });
  expect(await model.logits({ tokens: [[1, 2]] })).toEqual(expected);
  await loadModel(repeated(embedding), { engine, dtype: 'f16' });
  const other = Tensor.from(
    embedding.toFloat64().map(x => x + 1),
    embedding.shape,
  );
  const rows = embedding.slice(0, 0, 10).contiguous();
  for (const wrong of [other, rows, Tensor.zeros([12, embedding.shape[1]])])
    await expect(loadModel(repeated(wrong), { engine })).rejects.toThrow(
      "tensor 'lm_head.weight' differs from 'model.embed_tokens.weight', to which config.json ties it",
    );
});

test('a tied head that comes before the embedding is compared on the host, as soon as both are loaded', async () => {
  const config = { ...tinyLlama, tie_word_embeddings: true };
  const weights = drawWeights(config);
  const head = ['lm_head.weight', weights.get('model.embed_tokens.weight') as Tensor] as const;
  const uploaded: number[] = [];
  const watched = {
    ...engine,
    upload(tensor: Tensor) {
      uploaded.push(tensor.size);
      return engine.upload(tensor);
    },
    download: () => Promise.reject(new Error('a download')),
  };
  await loadModel(filesOf(config, new Map([head, ...weights])), { engine: watched });
  uploaded.length = 0;
  const wrong = ['lm_head.weight', Tensor.zeros(head[1].shape)] as const;
  const files = filesOf(config, new Map([wrong, ...weights]));
  await expect(loadModel(files, { engine: watched })).rejects.toThrow('to which config.json ties it');
  expect(uploaded).toEqual([head[1].size]);
});

test('a bias of the head of BERT is the bias of its predictions', async () => {
  const sizes = { vocab_size: 11, hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 2 };
  const config = { model_type: 'bert', ...sizes, intermediate_size: 12 };
  const weights = drawWeights(config);
  const load = (bias: Tensor | undefined) => {
    const head = ['cls.predictions.decoder.bias', bias as Tensor] as const;
    return loadModel(filesOf(config, new Map([...weights, head])), { engine });
  };
  await load(weights.get('cls.predictions.bias'));
  await expect(load(Tensor.zeros([11]))).rejects.toThrow(
    "tensor 'cls.predictions.decoder.bias' differs from 'cls.predictions.bias', to which config.json ties it",
  );
});

test('BERT with untied embeddings has a head of its own, as in transformers', async () => {
  const sizes = { vocab_size: 11, hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 2 };
  const tied = { model_type: 'bert', ...sizes, intermediate_size: 12 };
  const weights = drawWeights(tied);
  const twice = (name: string) => {
    const { shape, data } = weights.get(name) as Tensor;
    return Tensor.from(
      Array.from(data, x => 2 * Number(x)),
      shape,
    );
  };
  const head = [
    ['cls.predictions.decoder.weight', twice('bert.embeddings.word_embeddings.weight')],
    ['cls.predictions.decoder.bias', twice('cls.predictions.bias')],
  ] as const;
  const untied = { ...tied, tie_word_embeddings: false };
  const logits = async (config: Readonly<Record<string, unknown>>, given: ReadonlyMap<string, Tensor>) => {
    const model = await loadModel(filesOf(config, given), { engine });
    return [...(await model.logits({ tokens: [[1, 2, 3]] })).toFloat32()];
  };
  const single = await logits(tied, weights);
  expect(await logits(untied, new Map([...weights, ...head]))).toEqual(single.map(x => 2 * x));
});

test('a tensor that is called constructor is not a weight', async () => {
  const weights = changed(all => all.set('constructor', Tensor.zeros([1])));
  await expect(load(weights)).rejects.toThrow("tensor 'constructor' is not a weight of this model");
});

test('weights are stored in the dtype of the file, or in the requested dtype', async () => {
  const half = new Map([...drawWeights(tinyLlama)].map(([name, t]) => [name, t.cast('f16')]));
  const asFile = await load(half);
  expect(asFile.weights.get('model.norm.weight')?.dtype).toBe('f16');
  const asked = await loadModel(filesOf(tinyLlama, half), { engine, dtype: 'f32' });
  expect(asked.weights.get('model.norm.weight')?.dtype).toBe('f32');
  const [a, b] = await Promise.all([asFile, asked].map(model => model.logits({ tokens: [[1, 2, 3]] })));
  for (const [n, x] of a.toFloat32().entries()) expect(b.toFloat32()[n]).toBeCloseTo(x, 5);
});

test.each<readonly [string, (weights: Map<string, Tensor>) => void, string]>([
  [
    'a missing weight',
    weights => weights.delete('model.norm.weight'),
    "the model: tensor 'model.norm.weight' is missing",
  ],
  [
    'a superfluous one',
    weights => weights.set('model.extra', Tensor.zeros([1])),
    "tensor 'model.extra' is not a weight of this model",
  ],
  [
    'a wrong shape',
    weights => weights.set('model.norm.weight', Tensor.zeros([9])),
    'must have shape [8], got [9]',
  ],
  [
    'a dtype that is not a float',
    weights => weights.set('model.norm.weight', Tensor.zeros([8], { dtype: 'i32' })),
    'must be f32, f16 or bf16, got i32',
  ],
  [
    'a weight under two names',
    weights => weights.set('norm.weight', Tensor.zeros([8])),
    "duplicates the weight 'model.norm.weight'",
  ],
])('%s is an error that names it', async (_, change, message) => {
  const error: unknown = await load(changed(change)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CheckpointError);
  expect(error).toMatchObject({ message: expect.stringContaining(message) });
});
