import { InvalidArgumentError, type Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { expect, test } from 'vitest';
import { decodeCheckpoint } from './checkpoint.ts';
import { drawRecall, recallDataset } from './data/recall.ts';
import { textDataset } from './data/text.ts';
import { randomStream } from './random.ts';
import { createRun, type RunOptions } from './run.ts';

const config = { layers: 1, heads: 2, dim: 16, context: 8, batch: 8, warmup: 2 };

function trainer(options: Partial<RunOptions<Tensor>> = {}) {
  return createRun({
    engine: cpuEngine({ threads: 1 }),
    data: recallDataset(),
    config,
    seed: 1,
    ...options,
  });
}

async function losses(of: ReturnType<typeof trainer>, steps: number): Promise<number[]> {
  const list: number[] = [];
  for (let n = 0; n < steps; n++) list.push((await of.step()).loss);
  return list;
}

test('the loss falls, also on sequences that were held out', async () => {
  const model = trainer({ data: textDataset('abcabdabcabd'.repeat(20)) });
  const before = await model.evaluate(1);
  const curve = await losses(model, 30);
  const after = await model.evaluate(1);
  expect(curve[curve.length - 1]).toBeLessThan(curve[0] / 2);
  expect(after.loss).toBeLessThan(before.loss / 2);
  expect(after.accuracy).toBeGreaterThan(0.6);
  expect(await model.evaluate(1)).toEqual(after);
});

test('the same seed gives the same curve, bit for bit, and another seed gives another curve', async () => {
  const curve = await losses(trainer(), 6);
  expect(await losses(trainer(), 6)).toEqual(curve);
  expect(await losses(trainer({ seed: 2 }), 6)).not.toEqual(curve);
});

test('a run that is saved and loaded continues as if it had not been interrupted', async () => {
  const whole = await losses(trainer(), 6);
  const first = trainer();
  await losses(first, 3);
  const from = await decodeCheckpoint(await first.save());
  expect(from).toMatchObject({ task: 'recall', steps: 3, seed: 1n, config });
  const second = trainer({ config: from.config, seed: from.seed, from });
  expect(second.steps).toBe(3);
  expect(await losses(second, 3)).toEqual(whole.slice(3));
});

/** An engine that counts downloads and allocations. */
function counting() {
  const engine = cpuEngine({ threads: 1 });
  const count = { downloads: 0, allocated: 0 };
  const counted: TensorEngine<Tensor> = {
    ...engine,
    async download(tensor) {
      count.downloads++;
      return engine.download(tensor);
    },
    primitives: {
      ...engine.primitives,
      allocate(desc) {
        count.allocated++;
        return engine.primitives.allocate(desc);
      },
    },
  };
  return { engine: counted, count };
}

test('a step downloads no tensor and allocates nothing', async () => {
  const { engine, count } = counting();
  const model = trainer({ engine });
  await model.step();
  Object.assign(count, { downloads: 0, allocated: 0 });
  await losses(model, 2);
  // The run that computes the loss, the accuracy and the norm also reads these back.
  expect(count).toEqual({ downloads: 0, allocated: 0 });
});

test('attention maps are causal distributions, one per layer and head', async () => {
  const { model } = trainer({ config: { ...config, layers: 2 } });
  const { tokens } = drawRecall(randomStream(0, 'picture'), 1, 8);
  const maps = await model.attentionProbabilities({ tokens: [tokens[0].slice(0, 5)] });
  expect(maps.map(({ shape }) => shape)).toEqual([
    [1, 2, 5, 5],
    [1, 2, 5, 5],
  ]);
  for (const layer of maps) {
    for (let head = 0; head < 2; head++) {
      for (let i = 0; i < 5; i++) {
        const row = Array.from({ length: 5 }, (_, j) => layer.get(0, head, i, j));
        expect(row.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 5);
        expect(row.slice(i + 1).every(p => p === 0)).toBe(true);
      }
    }
  }
  await expect(model.attentionProbabilities({ tokens: [[]] })).rejects.toThrow(InvalidArgumentError);
  const long = [new Array<number>(9).fill(0)];
  await expect(model.attentionProbabilities({ tokens: long })).rejects.toThrow(
    /rows of at most 8 positions, got 9/,
  );
});

async function text(
  of: ReturnType<typeof trainer>,
  ...args: Parameters<typeof of.generate>
): Promise<string> {
  let written = '';
  for await (const character of of.generate(...args)) written += character;
  return written;
}

test('generated text depends only on the seed, even beyond the context, and follows what was learned', async () => {
  const model = trainer({ data: textDataset('abcd'.repeat(40)) });
  const options = { count: 12, temperature: 2, seed: 5 };
  const first = await text(model, 'ab', options);
  expect(first).toHaveLength(12);
  expect(await text(model, 'ab', options)).toBe(first);
  expect(await text(model, 'ab', { ...options, seed: 6 })).not.toBe(first);
  await losses(model, 30);
  expect(await text(model, 'ab', { count: 12, temperature: 0 })).toBe('cdabcdabcdab');
  await expect(text(model, 'xy', options)).rejects.toThrow(/has "x", which has no token/);
  await expect(text(model, '', options)).rejects.toThrow(/prompt is empty/);
});

test('parameters of another model are refused by name', async () => {
  const from = await decodeCheckpoint(await trainer().save());
  expect(() => trainer({ from, config: { ...config, dim: 8 } })).toThrow('which must be f32 of [8,8] here');
  expect(() => trainer({ from, config: { ...config, layers: 2 } })).toThrow(
    /has no 'layers.1.attention.norm/,
  );
  expect(() => trainer({ config: { ...config, heads: 3 } })).toThrow(
    /dim must be divisible by heads, 3, got 16/,
  );
});
