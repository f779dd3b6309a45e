import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { tinyLlama } from '../testing/tiny-model.ts';
import { readModel } from './architectures/read-model.ts';
import { createModel } from './create-model.ts';

const engine = cpuEngine();

test('a new model has norms of 1, and random matrices that depend on its seed and their names', async () => {
  const create = (seed: number) => createModel(readModel(tinyLlama), { engine, seed, deviation: 0.5 });
  const [model, same, other] = [create(1), create(1), create(2)];
  const values = (of: typeof model, name: string): Float32Array | undefined =>
    of.weights.get(name)?.toFloat32();
  expect([...(values(model, 'model.norm.weight') ?? [])]).toEqual(new Array(8).fill(1));
  const name = 'model.layers.1.mlp.up_proj.weight';
  const drawn = values(model, name) ?? new Float32Array();
  expect(values(same, name)).toEqual(drawn);
  expect(values(other, name)).not.toEqual(drawn);
  expect(values(model, 'model.layers.1.mlp.gate_proj.weight')).not.toEqual(drawn);
  const square = drawn.reduce((sum, x) => sum + x * x, 0) / drawn.length;
  expect(Math.sqrt(square)).toBeGreaterThan(0.35);
  expect(Math.sqrt(square)).toBeLessThan(0.65);
  expect((await model.logits({ tokens: [[1, 2, 3]] })).shape).toEqual([1, 3, 11]);
});

test('weights of a new model have the requested dtype, and a deviation may depend on the name', () => {
  const model = createModel(readModel(tinyLlama), {
    ...{ engine, dtype: 'bf16' },
    deviation: name => (name.includes('embed') ? 1 : 0),
  });
  expect(model.weights.get('lm_head.weight')).toMatchObject({ dtype: 'bf16' });
  expect(
    model.weights
      .get('lm_head.weight')
      ?.toFloat32()
      .every(x => x === 0),
  ).toBe(true);
  expect(
    model.weights
      .get('model.embed_tokens.weight')
      ?.toFloat32()
      .some(x => x !== 0),
  ).toBe(true);
  expect(() => createModel(readModel(tinyLlama), { engine, deviation: -1 })).toThrow(
    'deviation must be a number ≥ 0, or a function, got -1',
  );
});

test('a weight that does not fit into memory is refused with its reason', () => {
  const definition = readModel({ ...tinyLlama, vocab_size: 2 ** 31 - 1, tie_word_embeddings: false });
  expect(() => createModel(definition, { engine })).toThrow(
    expect.objectContaining({ code: 'OUT_OF_MEMORY' }),
  );
});
