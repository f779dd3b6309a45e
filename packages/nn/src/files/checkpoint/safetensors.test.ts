import { type DType, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import {
  type ByteSource,
  CheckpointError,
  encodeSafetensors,
  openSafetensors,
  readSafetensors,
} from './index.ts';

const tensors = new Map([
  ['a.weight', Tensor.from([1, -2, 3.5, 4, 5, 6], [2, 3])],
  ['half', Tensor.from([0.5, 65504], [2], { dtype: 'f16' })],
  ['brain', Tensor.from([1.5], [1, 1], { dtype: 'bf16' })],
  ['ids', Tensor.from([7, -8], [2], { dtype: 'i32' })],
  ['empty', Tensor.zeros([0, 3])],
  ['scalar', Tensor.from([9], [])],
]);

async function readAll(source: ByteSource, select?: (name: string) => boolean): Promise<Map<string, Tensor>> {
  const all = new Map<string, Tensor>();
  for await (const [name, tensor] of readSafetensors(source, { file: 'x.safetensors', select }))
    all.set(name, tensor);
  return all;
}

function fileOf(header: unknown, data: Uint8Array = new Uint8Array(0)): Uint8Array {
  const text = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + text.length + data.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  file.set(data, 8 + text.length);
  return file;
}

function* inChunks(file: Uint8Array, length: number): Generator<Uint8Array> {
  for (let at = 0; at < file.length; at += length) yield file.subarray(at, at + length);
}

const file = encodeSafetensors(tensors, { format: 'pt' });

test.each<readonly [string, () => ByteSource]>([
  ['memory', () => file],
  ['a buffer', () => new Uint8Array(file).buffer],
  ['a response', () => new Response(new Uint8Array(file))],
  ['a blob', () => new Blob([new Uint8Array(file)])],
  ['a stream', () => new Blob([new Uint8Array(file)]).stream() as ReadableStream<Uint8Array>],
  ['chunks of one byte', () => inChunks(file, 1)],
  ['chunks of 13 bytes', () => inChunks(file, 13)],
])('what was written is read from %s', async (_, source) => {
  const all = await readAll(source());
  expect([...all.keys()].sort()).toEqual([...tensors.keys()].sort());
  for (const [name, { dtype, shape, data }] of tensors) {
    expect(all.get(name)).toMatchObject({ dtype, shape, data });
  }
});

test('a view is written in the order of its elements', async () => {
  const turned = (tensors.get('a.weight') as Tensor).permute(1, 0);
  const [read] = (await readAll(encodeSafetensors(new Map([['t', turned]])))).values();
  expect([...read.data]).toEqual([1, 4, -2, 5, 3.5, 6]);
});

test('the data begin at a multiple of 8 bytes, whatever the names', () => {
  for (const name of ['a', 'ab', 'abc', 'abcdefg']) {
    const bytes = encodeSafetensors(new Map([[name, Tensor.zeros([1])]]));
    expect(Number(new DataView(bytes.buffer).getBigUint64(0, true)) % 8).toBe(0);
  }
});

test.each<readonly [string, Uint8Array, readonly number[]]>([
  ['I64', new Uint8Array(new BigInt64Array([-5n, 2n ** 31n - 1n]).buffer), [-5, 2 ** 31 - 1]],
  ['U64', new Uint8Array(new BigUint64Array([5n]).buffer), [5]],
  ['I16', new Uint8Array(new Int16Array([-5, 300]).buffer), [-5, 300]],
  ['U16', new Uint8Array(new Uint16Array([65535]).buffer), [65535]],
])('%s is read as i32', async (dtype, data, values) => {
  const header = { t: { dtype, shape: [values.length], data_offsets: [0, data.length] } };
  const read = (await readAll(inChunks(fileOf(header, data), 3))).get('t');
  expect(read?.dtype satisfies DType | undefined).toBe('i32');
  expect([...(read?.data ?? [])]).toEqual(values);
});

test('an integer beyond 32 bits is refused with its position', async () => {
  const data = new Uint8Array(new BigInt64Array([1n, 2n ** 40n]).buffer);
  const header = { t: { dtype: 'I64', shape: [2], data_offsets: [0, 16] } };
  await expect(readAll(fileOf(header, data))).rejects.toThrow(
    "x.safetensors: tensor 't' has an integer that does not fit into 32 bits, element 1",
  );
});

test('only the selected tensors are returned', async () => {
  expect([...(await readAll(inChunks(file, 5), name => name === 'ids')).keys()]).toEqual(['ids']);
});

test('single tensors are read by their ranges', async () => {
  const asked: number[] = [];
  const opened = await openSafetensors(async (begin, end) => {
    asked.push(end - begin);
    return file.subarray(begin, end);
  });
  expect(opened.header.metadata).toEqual({ format: 'pt' });
  expect(await opened.read('half')).toMatchObject({ shape: [2], data: tensors.get('half')?.data });
  expect(asked.at(-1)).toBe(4);
  await expect(opened.read('no')).rejects.toThrow("tensor 'no' is not in the file");
});

test('a range that was read is closed, even if it has more bytes', async () => {
  let left = 0;
  async function* from(begin: number): AsyncGenerator<Uint8Array> {
    left++;
    try {
      yield file.subarray(begin, begin + 8);
      yield file.subarray(begin + 8);
    } finally {
      left--;
    }
  }
  const { read } = await openSafetensors(async begin => from(begin));
  expect(await read('half')).toMatchObject({ data: tensors.get('half')?.data });
  expect(left).toBe(0);
});

const entry = (
  begin: number,
  end: number,
  shape: readonly number[] = [(end - begin) / 4],
  dtype = 'F32',
) => ({
  dtype,
  shape,
  data_offsets: [begin, end],
});

test.each<readonly [string, Uint8Array, string]>([
  ['too short for anything', new Uint8Array(3), 'it has 3 bytes'],
  ['a header longer than the file', file.subarray(0, 40), 'is truncated: its header'],
  [
    'a header of 2^60 bytes',
    new Uint8Array([0, 0, 0, 0, 0, 0, 0, 16]),
    'cannot have 1152921504606846976 bytes',
  ],
  ['no JSON', fileOf('{]'), 'not a JSON object'],
  ['a list', fileOf([]), 'not a JSON object'],
  ['metadata that are not strings', fileOf({ __metadata__: { a: 1 } }), '__metadata__'],
  ['no entry', fileOf({ t: 3 }), "tensor 't' is not described by an object"],
  ['an unknown dtype', fileOf({ t: entry(0, 8, [1], 'F64') }), 'tensor \'t\' has the dtype "F64"'],
  ['a dtype of Object', fileOf({ t: entry(0, 8, [1], 'toString') }), "tensor 't' has the dtype"],
  ['a negative extent', fileOf({ t: entry(0, 8, [-2]) }), "tensor 't' has an invalid shape: [-2]"],
  [
    'more dimensions than a tensor can have',
    fileOf({ t: entry(0, 4, Array(65).fill(1)) }, new Uint8Array(4)),
    "tensor 't' has an invalid shape: 65 of them",
  ],
  [
    'three offsets',
    fileOf({ t: { ...entry(0, 8), data_offsets: [0, 4, 8] } }),
    'has invalid data_offsets: [0,4,8]',
  ],
  ['offsets that do not fit the shape', fileOf({ t: entry(0, 12, [2]) }), 'has 8 bytes, but'],
  ['a size beyond integers', fileOf({ t: entry(0, 8, [2 ** 50, 2 ** 50]) }), "tensor 't' of F32"],
  ['overlapping tensors', fileOf({ a: entry(0, 8), b: entry(4, 12) }), "tensor 'b' overlaps"],
  ['a gap', fileOf({ a: entry(0, 8), b: entry(12, 16) }), "tensor 'b' leaves a gap"],
  [
    'truncated data',
    fileOf({ a: entry(0, 4), b: entry(4, 12) }, new Uint8Array(9)),
    "tensor 'b' is truncated",
  ],
  [
    'data after the last tensor',
    fileOf({ a: entry(0, 4) }, new Uint8Array(9)),
    'continues after its last tensor',
  ],
])('a damaged file is refused with the position: %s', async (_, bytes, message) => {
  for (const source of [bytes, inChunks(bytes, 7)]) {
    const error: unknown = await readAll(source).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CheckpointError);
    expect(error).toMatchObject({ file: 'x.safetensors', message: expect.stringContaining(message) });
  }
});

test('a reader that stops early cancels its source', async () => {
  let closed = false;
  async function* source(): AsyncGenerator<Uint8Array> {
    try {
      yield* inChunks(file, 50);
    } finally {
      closed = true;
    }
  }
  for await (const [name] of readSafetensors(source())) if (name) break;
  expect(closed).toBe(true);
});
