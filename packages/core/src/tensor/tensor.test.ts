import { describe, expect, it } from 'vitest';
import { InvalidArgumentError, InvalidDTypeError, InvalidShapeError } from '../errors.ts';
import { copyTensor } from './copy.ts';
import type { DType } from './dtype/dtype.ts';
import { Tensor } from './tensor.ts';

const iota = (count: number) => Array.from({ length: count }, (_, n) => n);
const values = (t: Tensor) => Array.from(t.toFloat64());

describe('Tensor.from', () => {
  it('is row-major f32 unless told otherwise', () => {
    const t = Tensor.from(iota(6), [2, 3]);
    expect([t.dtype, t.strides, t.offset, t.rank, t.size]).toEqual(['f32', [3, 1], 0, 2, 6]);
    expect(t.get(1, 0)).toBe(3);
    expect(t.data).toEqual(Float32Array.from(iota(6)));
  });

  it('lays values out by strides and leaves 0 in the gaps', () => {
    const t = Tensor.from([1, 2, 3, 4], [2, 2], { strides: [1, 3] });
    expect(Array.from(t.data)).toEqual([1, 3, 0, 2, 4]);
    expect(values(t)).toEqual([1, 2, 3, 4]);
  });

  it('rounds to the dtype once, and lets f8 overflow on request', () => {
    expect(Tensor.from([1 + 2 ** -11 + 2 ** -40], [1], { dtype: 'f16' }).data[0]).toBe(0x3c01);
    expect(values(Tensor.from([1000, -1000], [2], { dtype: 'f8e4m3' }))).toEqual([448, -448]);
    expect(values(Tensor.from([1000], [1], { dtype: 'f8e5m2', overflow: 'ieee' }))).toEqual([1024]);
    expect(values(Tensor.from([1e6], [1], { dtype: 'f8e5m2', overflow: 'ieee' }))).toEqual([Infinity]);
    expect(values(Tensor.from([1e6], [1], { dtype: 'f16', overflow: 'saturate' }))).toEqual([65504]);
  });

  it('spends no memory on the strides of size-1 dimensions', () => {
    const t = Tensor.from(iota(6), [1, 3, 1, 2], { strides: [99990001, 2, 3331333, 1] });
    expect(t.data.length).toBe(6);
    expect(t.isContiguous).toBe(true);
    expect(values(t)).toEqual(iota(6));
    expect(t.get(0, 2, 0, 1)).toBe(5);
  });

  it('may be a scalar or empty', () => {
    const scalar = Tensor.from([7], []);
    expect([scalar.rank, scalar.size, scalar.get()]).toEqual([0, 1, 7]);
    const nothing = Tensor.from([], [2, 0, 3], { strides: [3331333, 1, 1] });
    expect([nothing.size, nothing.data.length, nothing.isContiguous]).toEqual([0, 0, true]);
    expect(values(nothing.permute(2, 0, 1).contiguous())).toEqual([]);
  });

  it.each<[string, () => unknown, string, RegExp]>([
    [
      'too few values',
      () => Tensor.from([1], [2]),
      'INVALID_SHAPE',
      /^values has 1 elements, but shape \[2\] has 2/,
    ],
    ['a negative extent', () => Tensor.zeros([-1]), 'INVALID_SHAPE', /^shape must be a list of at most 64/],
    [
      'a fractional extent',
      () => Tensor.zeros([1.5]),
      'INVALID_SHAPE',
      /^shape must be a list of at most 64/,
    ],
    [
      'strides of another rank',
      () => Tensor.zeros([2, 2], { strides: [1] }),
      'INVALID_SHAPE',
      /^strides must be 2 non-negative integers, got \[1\]/,
    ],
    [
      'an unknown dtype',
      () => Tensor.zeros([1], { dtype: 'f64' as DType }),
      'INVALID_DTYPE',
      /^dtype must be one of f32, .*, got "f64"$/,
    ],
    ['an extent alone', () => Tensor.zeros(3 as never), 'INVALID_SHAPE', /^shape .* got 3$/],
    ['extents one by one', () => Tensor.zeros(2 as never, 3 as never), 'INVALID_SHAPE', /^shape .* got 2$/],
    ['no shape', () => Tensor.from([1], undefined as never), 'INVALID_SHAPE', /^shape .* got undefined$/],
    [
      'options that are none',
      () => Tensor.zeros([1], null as never),
      'INVALID_ARGUMENT',
      /^options must be an object, got null$/,
    ],
    [
      'a stride alone',
      () => Tensor.zeros([1], { strides: 1 as never }),
      'INVALID_SHAPE',
      /^strides must be 1 non-negative integers, got 1$/,
    ],
    [
      'bigints',
      () => Tensor.from([1n] as never, [1]),
      'INVALID_ARGUMENT',
      /^values must be numbers, got 1n at 0$/,
    ],
    [
      'an array of bigints',
      () => Tensor.from(new BigInt64Array(2) as never, [2]),
      'INVALID_ARGUMENT',
      /^values must be numbers, got 0n at 0$/,
    ],
    [
      'a missing element',
      () => Tensor.from([1, undefined] as never, [2]),
      'INVALID_ARGUMENT',
      /^values must be numbers, got undefined at 1$/,
    ],
    [
      'text',
      () => Tensor.from('abc' as never, [3]),
      'INVALID_ARGUMENT',
      /^values must be an array of numbers, got "abc"$/,
    ],
    [
      'more than memory holds',
      () => Tensor.zeros([2 ** 50]),
      'OUT_OF_MEMORY',
      /^no memory for 1125899906842624 elements$/,
    ],
  ])('rejects %s', (_, make, code, message) => {
    expect(make).toThrow(message);
    expect(make).toThrow(expect.objectContaining({ code }));
  });
});

describe('Tensor.wrap', () => {
  it('shares storage, from an offset', () => {
    const data = Float32Array.from(iota(10));
    const t = Tensor.wrap(data, { dtype: 'f32', shape: [2, 2], strides: [4, 1], offset: 3 });
    expect(values(t)).toEqual([3, 4, 7, 8]);
    t.set(-1, 1, 0);
    expect(data[7]).toBe(-1);
  });

  it('takes storage that ends with the last element, whatever the strides of size-1 dimensions', () => {
    const data = new Float32Array(8);
    expect(() =>
      Tensor.wrap(data, { dtype: 'f32', shape: [1, 2, 2], strides: [3331333, 4, 1], offset: 2 }),
    ).not.toThrow();
  });

  it('accepts a Buffer as its bytes', () => {
    const t = Tensor.wrap(Buffer.from([0, 2]), { dtype: 'u8', shape: [2] });
    expect(values(t)).toEqual([0, 2]);
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'storage that is too short',
      () => Tensor.wrap(new Float32Array(8), { dtype: 'f32', shape: [2, 2], strides: [4, 1], offset: 3 }),
      /^data has 8 elements, but shape \[2,2\] with strides \[4,1\] and offset 3 ends at element 8/,
    ],
    [
      'storage of another type',
      () => Tensor.wrap(new Float32Array(2), { dtype: 'f16', shape: [2] }),
      /^data must be a Uint16Array, in which f16 is stored, got Float32Array$/,
    ],
    [
      'no description',
      () => Tensor.wrap(new Float32Array(2), undefined as never),
      /^desc must be an object of dtype, shape, strides, offset, data, got undefined$/,
    ],
    [
      'no storage',
      () => Tensor.wrap(null as never, { dtype: 'f32', shape: [1] }),
      /^data must be a Float32Array, in which f32 is stored, got null$/,
    ],
    [
      'a negative offset',
      () => Tensor.wrap(new Float32Array(2), { dtype: 'f32', shape: [1], offset: -1 }),
      /^offset must be a non-negative integer, got -1/,
    ],
  ])('rejects %s', (_, wrap, message) => {
    expect(wrap).toThrow(message);
  });
});

describe('elements', () => {
  const t = Tensor.from(iota(6), [2, 3], { dtype: 'bf16' });

  it.each([[[2, 0]], [[0, -1]], [[0, 0.5]], [[0]]])('get rejects index %j', index => {
    expect(() => t.get(...index)).toThrow(`index [${index}] is outside shape [2,3]`);
  });

  it('set rounds to the dtype', () => {
    const copy = t.contiguous();
    copy.set(1.001, 1, 2);
    expect(copy.get(1, 2)).toBe(1);
  });
});

describe('limits are checked before anything is allocated', () => {
  it.each<[string, () => unknown]>([
    ['more than 2^53 elements', () => Tensor.zeros([1e9, 1e9])],
    ['a last element beyond 2^53', () => Tensor.zeros([3, 3], { strides: [2 ** 52, 2 ** 52] })],
    ['a shape of more than 64 dimensions', () => Tensor.zeros(new Array(65).fill(1))],
    ['a sparse shape', () => Tensor.zeros(new Array(2 ** 31))],
    ['an expanded shape of more than 2^53 elements', () => Tensor.zeros([1]).expand([2 ** 30, 2 ** 30])],
  ])('%s is refused', (_, make) => {
    expect(make).toThrow(InvalidShapeError);
  });

  it.each<[string, (t: Tensor) => unknown]>([
    ['toFloat32', t => t.toFloat32()],
    ['toFloat64', t => t.toFloat64()],
    ['contiguous', t => t.contiguous()],
    ['cast', t => t.cast('f16')],
  ])('%s of an expanded tensor without the memory for it is OUT_OF_MEMORY', (_, use) => {
    expect(() => use(Tensor.zeros([1]).expand([2 ** 45]))).toThrow(
      expect.objectContaining({ code: 'OUT_OF_MEMORY' }),
    );
  });
});

describe('a tensor whose buffer was transferred', () => {
  const detached = (): Tensor => {
    const t = Tensor.from([1, 2, 3, 4], [2, 2]);
    structuredClone(t.data.buffer, { transfer: [t.data.buffer as ArrayBuffer] });
    return t;
  };

  it.each<[string, (t: Tensor) => unknown]>([
    ['get', t => t.get(0, 1)],
    ['set', t => t.set(1, 0, 1)],
    ['toFloat32', t => t.toFloat32()],
    ['toFloat64', t => t.toFloat64()],
    ['contiguous', t => t.contiguous()],
    ['a transposed contiguous', t => t.permute(1, 0).contiguous()],
    ['cast', t => t.cast('f16')],
    ['copyTensor', t => copyTensor(t, Tensor.zeros([2, 2]))],
    ['copyTensor to it', t => copyTensor(Tensor.zeros([2, 2]), t)],
  ])('is refused by %s', (_, use) => {
    expect(() => use(detached())).toThrow(InvalidArgumentError);
    expect(() => use(detached())).toThrow(/it was released, transferred or shrunk/);
  });
});

describe('misspelt options are refused', () => {
  it.each<[string, () => unknown]>([
    ['from', () => Tensor.from([1], [1], { dtyp: 'f16' } as never)],
    ['zeros', () => Tensor.zeros([1], { stride: [1] } as never)],
    ['wrap', () => Tensor.wrap(new Float32Array(1), { dtype: 'f32', shape: [1], ofset: 1 } as never)],
    ['cast', () => Tensor.zeros([1]).cast('f16', { overflo: 'ieee' } as never)],
  ])('%s', (_, make) => {
    expect(make).toThrow(/is not an option; the options are/);
  });

  it.each(['saturat', 3, null])('an overflow of %j', overflow => {
    expect(() => Tensor.from([1], [1], { dtype: 'f16', overflow } as never)).toThrow(/^overflow must be/);
    expect(() => Tensor.zeros([1]).cast('f16', { overflow } as never)).toThrow(/^overflow must be/);
  });

  it('an unknown dtype in cast', () => {
    expect(() => Tensor.zeros([1]).cast('f64' as never)).toThrow(InvalidDTypeError);
    expect(() => Tensor.zeros([1]).cast('f64' as never)).toThrow(/^dtype /);
  });
});
