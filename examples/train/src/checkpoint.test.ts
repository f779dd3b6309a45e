import { Tensor, TilewiseError } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { encodeSafetensors } from '@tilewise/nn';
import { PhiloxStream } from '@tilewise/philox';
import { processorTime } from '@tilewise/test-data';
import { fuzzRun } from '@tilewise/test-data/random-problem';
import { expect, test } from 'vitest';
import { type Checkpoint, decodeCheckpoint } from './checkpoint.ts';
import { recallDataset } from './data/recall.ts';
import { createRun } from './run.ts';

const config = { layers: 1, heads: 2, dim: 8, context: 8, batch: 2 };
const run = createRun({
  engine: cpuEngine({ threads: 1 }),
  data: recallDataset(),
  config,
  seed: 7n,
});
const file = await run.save();
const saved = await decodeCheckpoint(file);

/** The checkpoint with some metadata replaced; undefined removes an entry. */
function withMetadata(
  change: Readonly<Record<string, string | undefined>>,
  tensors = saved.tensors,
): Uint8Array {
  const given = Object.entries({ ...saved.metadata, ...change }).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, text]],
  );
  return encodeSafetensors(tensors, Object.fromEntries(given));
}

const withTensors = (change: (tensors: Map<string, Tensor>) => void): Uint8Array => {
  const tensors = new Map(saved.tensors);
  change(tensors);
  return withMetadata({}, tensors);
};

const withConfig = (change: object): Uint8Array =>
  withMetadata({ config: JSON.stringify({ ...saved.config, ...change }) });

test('a checkpoint is read as it was written', () => {
  expect(saved).toMatchObject({ task: 'recall', steps: 0, seed: 7n, config });
  expect(saved.characters.join('')).toBe('ABCDEFGHIJKLMNOP0123456789');
});

test.each<[string, Uint8Array, RegExp]>([
  ['a billion layers', withConfig({ layers: 1e9 }), /layers must be a whole number from 1 to 1024/],
  ['more layers than weights', withConfig({ layers: 2 }), /must have 'layers\.1\.attention\.norm/],
  ['a configuration of texts', withConfig({ dropout: '0.1' }), /dropout must be a number/],
  ['a decay without bounds', withMetadata({ config: '{"weightDecay":1e999}' }), /weightDecay must be/],
  ['an unknown field', withConfig({ layesr: 1 }), /has no 'layesr'/],
  ['a configuration that is a list', withMetadata({ config: '[]' }), /config must be an object/],
  ['no configuration', withMetadata({ config: undefined }), /metadata that cannot be read/],
  ['no characters', withMetadata({ characters: 'null' }), /characters must be a list/],
  ['characters that are numbers', withMetadata({ characters: '[1]' }), /characters must be a list/],
  ['a character twice', withMetadata({ characters: '["a","a"]' }), /characters must be a list/],
  [
    'fewer characters than rows',
    withMetadata({ characters: '["a"]' }),
    /must have 'tokens\.weight', f32 of \[1,8\]/,
  ],
  ['a step below 0', withMetadata({ step: '-5' }), /no valid 'step'/],
  ['half a step', withMetadata({ step: '0.5' }), /no valid 'step'/],
  ['a seed below 0', withMetadata({ seed: '-1' }), /seed must be a whole number/],
  ['a seed of 65 bits', withMetadata({ seed: `${2n ** 64n}` }), /seed must be a whole number/],
  [
    'weights that are integers',
    withTensors(tensors => tensors.set('tokens.weight', Tensor.zeros([26, 8], { dtype: 'i32' }))),
    /must have 'tokens\.weight', f32/,
  ],
])('a checkpoint with %s is refused', async (_, bytes, message) => {
  await expect(decodeCheckpoint(bytes)).rejects.toThrow(TilewiseError);
  await expect(decodeCheckpoint(bytes)).rejects.toThrow(message);
});

test('a tensor that belongs to no parameter is refused when a run continues', async () => {
  const from = await decodeCheckpoint(withTensors(tensors => tensors.set('extra', Tensor.zeros([1]))));
  const engine = cpuEngine({ threads: 1 });
  expect(() => createRun({ engine, data: recallDataset(), config, from })).toThrow(
    /'extra'.* belongs to no parameter/,
  );
});

const values = [null, -1, 0, 1, 0.5, 1e9, 2 ** 53, '', 'x', '-5', [], {}, [0, 4], true, 'F32', 'I32', 'BOOL'];

/** Replaces the value at a random place in a JSON value. */
function mutated(value: unknown, random: PhiloxStream): unknown {
  const pick = <T>(list: readonly T[]): T =>
    list[Math.floor(random.nextUniform() * list.length) % list.length];
  const isLeaf = typeof value !== 'object' || value === null || Object.keys(value).length === 0;
  if (isLeaf || random.nextUniform() < 0.1) return pick(values);
  const key = pick(Object.keys(value));
  const child: unknown = Reflect.get(value, key);
  if (Array.isArray(value)) return value.map((x, n) => (String(n) === key ? mutated(child, random) : x));
  if (random.nextUniform() < 0.1) return Object.fromEntries(Object.entries(value).filter(([k]) => k !== key));
  return { ...value, [key]: mutated(child, random) };
}

/**
 * The checkpoint with a value of its header or of its metadata's JSON replaced, or with some of its bytes
 * replaced.
 */
function mutatedFile(random: PhiloxStream): Uint8Array {
  if (random.nextUniform() < 0.2) {
    const bytes = file.slice(
      0,
      random.nextUniform() < 0.3 ? Math.floor(random.nextUniform() * file.length) : undefined,
    );
    for (let n = 0; n < 3; n++)
      bytes[Math.floor(random.nextUniform() * Math.min(bytes.length, 2000))] = random.nextU32();
    return bytes;
  }
  const length = new DataView(file.buffer, file.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)));
  const { __metadata__: metadata } = header;
  if (random.nextUniform() < 0.5) {
    const field = random.nextUniform() < 0.7 ? 'config' : 'characters';
    metadata[field] = JSON.stringify(mutated(JSON.parse(metadata[field]), random));
  }
  const json = new TextEncoder().encode(JSON.stringify(mutated(header, random)));
  const bytes = new Uint8Array(8 + json.length + file.length - 8 - length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  bytes.set(file.subarray(8 + length), 8 + json.length);
  return bytes;
}

/** Whether a reader of a snapshot can rely on it. */
function isSound({ config, characters, steps, seed, tensors }: Checkpoint): boolean {
  const tokens = tensors.get('tokens.weight');
  return (
    Number.isSafeInteger(steps) &&
    steps >= 0 &&
    seed >= 0n &&
    characters.every(one => typeof one === 'string') &&
    String(tokens?.shape) === String([characters.length, config.dim])
  );
}

const { seed, count, timeout } = fuzzRun(500);

test(`${count} mutated checkpoints are refused with a typed error or are sound, TILEWISE_SEED=${seed}`, {
  timeout,
}, async () => {
  const random = new PhiloxStream(seed);
  for (let n = 0; n < count; n++) {
    const bytes = mutatedFile(random);
    const start = processorTime();
    try {
      expect(isSound(await decodeCheckpoint(bytes)), `mutation ${n} is not sound`).toBe(true);
    } catch (error) {
      if (!(error instanceof TilewiseError)) throw new Error(`mutation ${n}: ${error}`, { cause: error });
    }
    expect(processorTime() - start).toBeLessThan(2000);
  }
});
