import { Tensor, TilewiseError } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { PhiloxStream } from '@tilewise/philox';
import { expect, test } from 'vitest';
import { recallDataset } from '../data/recall.ts';
import { createTrainer, type Snapshot } from '../training/trainer.ts';
import { decodeCheckpoint, encodeCheckpoint } from './checkpoint.ts';
import { encodeSafetensors } from './safetensors.ts';

const config = { layers: 1, heads: 2, dim: 8, context: 8, batch: 2 };
const trainer = createTrainer({
  engine: cpuEngine({ threads: 1 }),
  data: recallDataset(),
  config,
  seed: 7n,
});
const snapshot = await trainer.snapshot();
const file = encodeCheckpoint(snapshot);

/** The checkpoint with other metadata; undefined removes an entry. */
function withMetadata(change: Readonly<Record<string, string | undefined>>): Uint8Array {
  const { tensors, task, seed, step } = snapshot;
  const metadata: Record<string, string | undefined> = {
    ...{ task, seed: `${seed}`, step: `${step}`, config: JSON.stringify(snapshot.config) },
    ...{ characters: JSON.stringify(snapshot.characters), ...change },
  };
  const given = Object.entries(metadata).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, text]],
  );
  return encodeSafetensors({ tensors, metadata: Object.fromEntries(given) });
}

const withTensors = (change: (tensors: Map<string, Tensor>) => void): Uint8Array => {
  const tensors = new Map(snapshot.tensors);
  change(tensors);
  return encodeCheckpoint({ ...snapshot, tensors });
};

const withConfig = (change: object): Uint8Array =>
  withMetadata({ config: JSON.stringify({ ...snapshot.config, ...change }) });

test('a checkpoint is read as it was written', () => {
  const read = decodeCheckpoint(file);
  expect({ ...read, tensors: null }).toEqual({ ...snapshot, tensors: null });
  expect([...read.tensors.keys()].sort()).toEqual([...snapshot.tensors.keys()].sort());
});

test.each<[string, Uint8Array, RegExp]>([
  ['a billion layers', withConfig({ layers: 1e9 }), /layers must be a whole number from 1 to 1024/],
  ['more layers than weights', withConfig({ layers: 2 }), /lacks 'layers\.1\.attention\.q'/],
  ['a configuration of texts', withConfig({ dropout: '0.1' }), /dropout must be a number/],
  ['a decay without bounds', withMetadata({ config: '{"weightDecay":1e999}' }), /weightDecay must be/],
  ['an unknown field', withConfig({ layesr: 1 }), /has no 'layesr'/],
  ['a configuration that is a list', withMetadata({ config: '[]' }), /config must be an object/],
  ['no configuration', withMetadata({ config: undefined }), /metadata that cannot be read/],
  ['no characters', withMetadata({ characters: 'null' }), /characters must be a list/],
  ['characters that are numbers', withMetadata({ characters: '[1]' }), /characters must be a list/],
  ['a character twice', withMetadata({ characters: '["a","a"]' }), /characters must be a list/],
  ['fewer characters than rows', withMetadata({ characters: '["a"]' }), /tokens must have shape \[1,8\]/],
  ['a step below 0', withMetadata({ step: '-5' }), /step must be a whole number/],
  ['half a step', withMetadata({ step: '0.5' }), /step must be a whole number/],
  ['a seed below 0', withMetadata({ seed: '-1' }), /seed must be a whole number/],
  ['a seed of 65 bits', withMetadata({ seed: `${2n ** 64n}` }), /seed must be a whole number/],
  [
    'weights that are integers',
    withTensors(tensors => tensors.set('tokens', Tensor.zeros([26, 8], { dtype: 'i32' }))),
    /tokens must be f32, got i32/,
  ],
  [
    'a tensor of no parameter',
    withTensors(tensors => tensors.set('extra', Tensor.zeros([1]))),
    /'extra', which is no parameter/,
  ],
])('a checkpoint with %s is refused', (_, bytes, message) => {
  expect(() => decodeCheckpoint(bytes)).toThrow(TilewiseError);
  expect(() => decodeCheckpoint(bytes)).toThrow(message);
});

test('a run cannot be taken up before its start', () => {
  const from = { ...snapshot, step: -5 };
  expect(() =>
    createTrainer({ engine: cpuEngine({ threads: 1 }), data: recallDataset(), config, from }),
  ).toThrow(/step must be a whole number/);
});

const values = [null, -1, 0, 1, 0.5, 1e9, 2 ** 53, '', 'x', '-5', [], {}, [0, 4], true, 'F32', 'I32', 'BOOL'];

/** Puts another value at a random place of a JSON value. */
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
 * The checkpoint with a value of its header, or of its metadata's JSON, replaced, or with some bytes of it.
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

/** What a reader of a snapshot relies on. */
function isSound({ config, characters, step, seed, tensors }: Snapshot): boolean {
  const tokens = tensors.get('tokens');
  return (
    Number.isSafeInteger(step) &&
    step >= 0 &&
    seed >= 0n &&
    characters.every(one => typeof one === 'string') &&
    String(tokens?.shape) === String([characters.length, config.dim]) &&
    [...tensors.values()].every(({ dtype }) => dtype === 'f32')
  );
}

const seed = Number(process.env.TILEWISE_SEED);

test(`500 mutated checkpoints are refused with a typed error or are sound, TILEWISE_SEED=${seed}`, () => {
  const random = new PhiloxStream(seed);
  for (let n = 0; n < 500; n++) {
    const bytes = mutatedFile(random);
    const start = performance.now();
    try {
      expect(isSound(decodeCheckpoint(bytes)), `mutation ${n} is not sound`).toBe(true);
    } catch (error) {
      if (!(error instanceof TilewiseError)) throw new Error(`mutation ${n}: ${error}`, { cause: error });
    }
    expect(performance.now() - start).toBeLessThan(2000);
  }
});
