import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Tensor } from '@tilewise/core';
import { Graph } from '@tilewise/graph';
import { toOnnx } from '@tilewise/graph/onnx';
import { sharedDir } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { compareTensors } from './compare.ts';
import { onnx } from './suite.ts';

const shared = sharedDir() ?? '';
const nodes = join(shared, 'conformance/onnx/node');
const models = join(shared, 'vectors/models');

/** The outcomes of a run by status, with the names of those that did not pass. */
async function outcomes(
  options: Readonly<Record<string, string>>,
  filter = '',
): Promise<Record<string, string[]>> {
  const open = await onnx.open({ engine: 'cpu', ...options });
  const found: Record<string, string[]> = { pass: [], fail: [], unsupported: [] };
  for (const { name, run } of open.cases) {
    if (!name.includes(filter)) continue;
    const { status, reason } = await run();
    found[status].push(status === 'pass' ? name : `${name}: ${reason}`);
  }
  open.close();
  return found;
}

/** A field of a protobuf message that has a length. */
function bytes(field: number, ...parts: readonly number[][]): number[] {
  const content = parts.flat();
  return [(field << 3) | 2, content.length, ...content];
}

const text = (field: number, value: string): number[] => bytes(field, [...new TextEncoder().encode(value)]);

/** The type of a tensor of two f32 numbers. */
const float = bytes(1, [8, 1], bytes(2, bytes(1, [8, 2])));

describe.skipIf(!existsSync(nodes))("ONNX's operator tests", { timeout: 120_000 }, () => {
  test.each(['cpu', 'reference'])(
    'all pass on %s, except casts to formats that engines do not have',
    async engine => {
      const { pass, fail, unsupported } = await outcomes({ cases: nodes, engine });
      expect(fail).toEqual([]);
      expect(unsupported.every(name => name.startsWith('Cast/'))).toBe(true);
      expect(unsupported).toHaveLength(8);
      expect(pass.length).toBeGreaterThanOrEqual(411);
    },
  );
});

describe.skipIf(!existsSync(models))('exported models', { timeout: 120_000 }, () => {
  test('give the logits and gradients of the checkpoints, with every attention in one partition, and train as these', async () => {
    const { pass, fail, unsupported } = await outcomes({ models });
    expect([...fail, ...unsupported]).toEqual([]);
    expect(pass).toEqual(
      expect.arrayContaining(['bert', 'gpt2', 'llama', 'vit', 'gpt2/lora', 'llama/lora', 'gpt2/adamw']),
    );
  });
});

describe('the gate of results', () => {
  const tensor = (values: number[], dtype: 'f32' | 'f16' | 'i32' = 'f32'): Tensor =>
    Tensor.from(values, [values.length], { dtype });
  test.each([
    ['f32 within 1e-3 of the number', tensor([1000.9, 0]), tensor([1000, 0]), 'pass'],
    ['another dtype', tensor([1]), tensor([1], 'f16'), 'fail'],
    ['f32 beyond 1e-3 of the number', tensor([1001.1, 0]), tensor([1000, 0]), 'fail'],
    ['f16 two units of the largest', tensor([1, 1024 + 2], 'f16'), tensor([1, 1024], 'f16'), 'pass'],
    ['f16 three units of the largest', tensor([1, 1024 + 3], 'f16'), tensor([1, 1024], 'f16'), 'fail'],
    ['integers exactly', tensor([3], 'i32'), tensor([4], 'i32'), 'fail'],
    ['NaN for NaN', tensor([NaN]), tensor([NaN]), 'pass'],
    ['NaN for a number', tensor([NaN]), tensor([1]), 'fail'],
    ['an infinity for the other', tensor([Infinity]), tensor([-Infinity]), 'fail'],
    ['another shape', tensor([1, 2]), tensor([1]), 'fail'],
  ])('%s', (_, got, expected, status) => {
    expect(compareTensors('x', got, expected).status).toBe(status);
  });
});

test('a case with a sequence is unsupported', async () => {
  const sequence = bytes(4, bytes(1, float));
  const value = (name: string, type: readonly number[]): number[] => [
    ...text(1, name),
    ...bytes(2, [...type]),
  ];
  const folder = mkdtempSync(join(tmpdir(), 'tilewise-onnx-'));
  // x is a tensor or a sequence, and y a sequence: its file holds a name, and tensors in another field.
  for (const [name, op, type] of [
    ['split', 'SplitToSequence', float],
    ['same', 'Identity', sequence],
  ] as const) {
    mkdirSync(join(folder, name, 'test_data_set_0'), { recursive: true });
    const node = bytes(1, text(1, 'x'), text(2, 'y'), text(4, op));
    const graph = bytes(7, node, bytes(11, value('x', type)), bytes(12, value('y', sequence)));
    writeFileSync(join(folder, name, 'model.onnx'), Uint8Array.from([...graph, ...bytes(8, [16, 18])]));
    const tensor = [8, 2, 16, 1, ...bytes(9, [0, 0, 0, 0, 0, 0, 0, 0])];
    const list = [...text(1, 'y'), 16, 1, ...bytes(3, tensor)];
    const files = { input_0: type === float ? tensor : list, output_0: list };
    for (const [file, data] of Object.entries(files))
      writeFileSync(join(folder, name, 'test_data_set_0', `${file}.pb`), Uint8Array.from(data));
  }
  const { pass, fail, unsupported } = await outcomes({ cases: folder });
  rmSync(folder, { recursive: true });
  expect([...pass, ...fail]).toEqual([]);
  expect(unsupported).toEqual([
    "same: input 'x' is not a tensor of a dtype that engines support",
    expect.stringContaining('SplitToSequence'),
  ]);
});

test('a case without expected values fails', async () => {
  const g = new Graph();
  const [x, y] = [g.tensor({ dtype: 'f32', shape: [] }), g.tensor({ dtype: 'f32' })];
  g.op('Abs', { inputs: [x], outputs: [y] });
  const folder = mkdtempSync(join(tmpdir(), 'tilewise-onnx-'));
  for (const name of ['more-outputs', 'no-data', 'no-output']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'model.onnx'), toOnnx(g));
  }
  // A scalar f32 tensor: its data type is 1, and its raw data, field 9, four bytes.
  const zero = Uint8Array.from([16, 1, 74, 4, 0, 0, 0, 0]);
  const store = (name: string, files: readonly string[]): void => {
    const set = join(folder, name, 'test_data_set_0');
    mkdirSync(set);
    for (const file of files) writeFileSync(join(set, `${file}.pb`), zero);
  };
  store('no-output', ['input_0']);
  store('more-outputs', ['input_0', 'output_0', 'output_1']);
  const { pass, fail, unsupported } = await outcomes({ cases: folder });
  rmSync(folder, { recursive: true });
  expect([...pass, ...unsupported]).toEqual([]);
  expect(fail).toEqual([
    'more-outputs: there are expected values of 2 outputs, and the model has 1',
    'no-data: the folder has no test_data_set_0',
    expect.stringMatching(/^no-output: there is no expected value of 't\d+'$/),
  ]);
});

test('weights are read from files beside a model, and from no other folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tilewise-onnx-'));
  const write = (name: string, location: string): void => {
    const place = bytes(13, text(1, 'location'), text(2, location));
    const weights = bytes(5, [8, 2, 16, 1], text(8, 'w'), place, [112, 1]);
    const value = (own: string): number[] => [...text(1, own), ...bytes(2, float)];
    const node = bytes(1, text(1, 'x'), text(1, 'w'), text(2, 'y'), text(4, 'Add'));
    const graph = bytes(7, node, weights, bytes(11, value('x')), bytes(12, value('y')));
    const set = join(folder, name, 'test_data_set_0');
    mkdirSync(set, { recursive: true });
    writeFileSync(join(folder, name, 'model.onnx'), Uint8Array.from([...graph, ...bytes(8, [16, 18])]));
    const raw = (...values: number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);
    mkdirSync(join(folder, name, 'own'));
    for (const file of ['w.bin', 'own/w.bin']) writeFileSync(join(folder, name, file), raw(1, 2));
    const tensor = (...values: number[]) => Uint8Array.from([8, 2, 16, 1, ...bytes(9, [...raw(...values)])]);
    writeFileSync(join(set, 'input_0.pb'), tensor(3, 4));
    writeFileSync(join(set, 'output_0.pb'), tensor(4, 6));
  };
  write('beside', 'w.bin');
  write('below', 'own/w.bin');
  write('elsewhere', '../beside/w.bin');
  for (const name of ['beside', 'below'])
    expect(await outcomes({ cases: folder }, name)).toEqual({ pass: [name], fail: [], unsupported: [] });
  await expect(outcomes({ cases: folder }, 'elsewhere')).rejects.toThrow(
    "the weights '../beside/w.bin' are in another folder",
  );
  rmSync(folder, { recursive: true });
});

test('exactly one of the options that say what to run must be given', async () => {
  await expect(onnx.open({ engine: 'cpu' })).rejects.toThrow('one of --cases, --models and --model');
  await expect(onnx.open({ engine: 'cpu', model: 'x.onnx' })).rejects.toThrow(
    '--model and --expected belong together',
  );
  await expect(onnx.open({ engine: 'cpu', cases: '/nowhere' })).rejects.toThrow('there is no folder');
});
