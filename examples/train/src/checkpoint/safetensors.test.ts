import { type DType, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { decodeSafetensors, encodeSafetensors } from './safetensors.ts';

const dtypes: readonly DType[] = ['f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2', 'i32', 'u32', 'i8', 'u8', 'bool'];
const tensors = new Map(dtypes.map(dtype => [dtype as string, Tensor.from([1, 0, 1], [3, 1], { dtype })]));
tensors.set('scalar', Tensor.from([-2.5], []));
tensors.set('transposed', Tensor.from([1, 2, 3, 4, 5, 6], [2, 3]).permute(1, 0));
tensors.set('nothing', Tensor.zeros([0, 4]));
const metadata = { format: 'test', note: 'ä\n"' };

test('what is written is read again: every dtype, scalars, transposed and empty tensors, metadata', () => {
  const file = encodeSafetensors({ tensors, metadata });
  const read = decodeSafetensors(file);
  expect(read.metadata).toEqual(metadata);
  expect([...read.tensors.keys()].sort()).toEqual([...tensors.keys()].sort());
  for (const [name, tensor] of tensors) {
    const found = read.tensors.get(name);
    expect(found?.shape).toEqual(tensor.shape);
    expect(found?.dtype).toBe(tensor.dtype);
    expect(found?.toFloat64()).toEqual(tensor.toFloat64());
  }
});

// safetensors 0.8.0: save({'b': torch.tensor([1., 2.]), 'a': torch.tensor([[True]])}, {'k': 'v'})
const fromPython =
  'iAAAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJrIjoidiJ9LCJiIjp7ImR0eXBlIjoiRjMyIiwic2hhcGUiOlsyXSwiZGF0YV9vZmZzZXRzIjpbMCw4XX0sImEiOnsiZHR5cGUiOiJCT09MIiwic2hhcGUiOlsxLDFdLCJkYXRhX29mZnNldHMiOls4LDldfX0gAACAPwAAAEAB';

test('reads and writes the bytes of the Python package', () => {
  const bytes = Uint8Array.from(Buffer.from(fromPython, 'base64'));
  const read = decodeSafetensors(bytes);
  expect(read.metadata).toEqual({ k: 'v' });
  expect([...(read.tensors.get('b')?.toFloat32() ?? [])]).toEqual([1, 2]);
  expect(read.tensors.get('a')).toMatchObject({ dtype: 'bool', shape: [1, 1] });
  expect(Buffer.from(encodeSafetensors(read)).toString('base64')).toBe(fromPython);
});

function fileOf(header: string, data: number[] = []): Uint8Array {
  const json = new TextEncoder().encode(header);
  return Uint8Array.from([json.length, 0, 0, 0, 0, 0, 0, 0, ...json, ...data]);
}

test.each([
  ['too short', Uint8Array.of(1, 2), /it has 2 bytes/],
  ['a header beyond its end', Uint8Array.of(99, 0, 0, 0, 0, 0, 0, 0, 1), /a header of 99 bytes follows/],
  ['no JSON', fileOf('{'), /its header is no JSON object/],
  ['a list', fileOf('[]'), /its header is no JSON object/],
  ['a dtype unknown here', fileOf('{"x":{"dtype":"F64","shape":[],"data_offsets":[0,8]}}'), /'x' of F64/],
  [
    'a tensor outside',
    fileOf('{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}', [1]),
    /tensor 'x' that is not/,
  ],
  [
    'a length that is wrong',
    fileOf('{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,1]}}', [1]),
    /tensor 'x'/,
  ],
  [
    'overlapping tensors',
    fileOf(
      '{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}',
      [1, 2, 3],
    ),
    /'y' that overlaps the tensor before it/,
  ],
  [
    'a gap between tensors',
    fileOf(
      '{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"y":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}',
      [1, 2, 3],
    ),
    /'y' that leaves a gap of 1 bytes/,
  ],
  ['bytes of no tensor', fileOf('{}', [1]), /has 1 bytes of data, of which its tensors are 0/],
  ['numbers as metadata', fileOf('{"__metadata__":{"a":1}}'), /metadata that are no texts/],
])('a file with %s is refused', (_, file, message) => {
  expect(() => decodeSafetensors(file)).toThrow(message);
});
