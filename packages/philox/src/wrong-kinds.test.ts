import { expect, test } from 'vitest';
import { createDropout, dropoutMask, fillBernoulli, fillU32, PhiloxStream } from './index.ts';
import {
  atPhiloxEngine,
  NumpyPhilox,
  nativeDropoutIncrement,
  nativeDropoutMask,
  onednnLegacyWord,
  seedSequenceState,
  transformerEngineDropoutMask,
  xlaRngBitGenerator,
} from './interop/index.ts';
import {
  composeWgsl,
  dropoutMaskKernel,
  dropoutMaskUniformWords,
  dropoutUniforms,
  dropoutUniformWords,
  fillKernel,
  fillUniformWords,
} from './wgsl/index.ts';

test.each<[call: string, run: (given: never) => unknown, argument: string]>([
  ['NumpyPhilox', given => new NumpyPhilox(given), 'options'],
  ['nativeDropoutMask', given => nativeDropoutMask(given), 'options'],
  ['nativeDropoutIncrement', given => nativeDropoutIncrement(given), 'options'],
  ['transformerEngineDropoutMask', given => transformerEngineDropoutMask(given), 'options'],
  ['xlaRngBitGenerator', given => xlaRngBitGenerator(given, 4), 'state'],
  ['fillKernel', given => fillKernel(given), 'options'],
  ['dropoutMaskKernel', given => dropoutMaskKernel(given), 'options'],
  ['dropoutMaskUniformWords', given => dropoutMaskUniformWords(given), 'options'],
  ['dropoutUniformWords', given => dropoutUniformWords(given), 'uniforms'],
  ['composeWgsl', given => composeWgsl(given), 'pieces'],
])('%s of another kind of argument is refused by name', (_, run, argument) => {
  for (const given of [undefined, null, 3, 'x']) {
    expect(() => run(given as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', argument }),
    );
  }
});

const mask = { shape: [1, 1, 2, 2], p: 0.5, seed: 1 } as const;
const shape = { B: 1, H: 1, Sq: 2, Skv: 2 };

test.each<[call: string, run: (misspelt: object) => unknown]>([
  ['dropoutMask', o => dropoutMask({ ...mask, ...o })],
  ['createDropout', o => createDropout({ ...mask, shape, ...o })],
  ['dropoutUniforms', o => dropoutUniforms({ ...mask, shape, ...o })],
  ['dropoutMaskKernel', o => dropoutMaskKernel({ scheme: 'onednn', ...o })],
  ['fillKernel', o => fillKernel({ distribution: 'u32', ...o })],
  ['fillUniformWords', o => fillUniformWords({ seed: 1, count: 4, ...o })],
  ['fillU32', o => fillU32(new Uint32Array(4), { seed: 1, ...o })],
  ['fillBernoulli', o => fillBernoulli(new Uint8Array(4), { seed: 1, p: 0.5, ...o })],
  ['PhiloxStream', o => new PhiloxStream(1, o)],
  ['atPhiloxEngine', o => atPhiloxEngine(1, o)],
  ['NumpyPhilox', o => new NumpyPhilox({ seed: 1, ...o })],
  [
    'nativeDropoutMask',
    o => nativeDropoutMask({ numel: 16, p: 0.5, seed: 1, offset: 0, vec: 4, grid: 1, ...o }),
  ],
  ['nativeDropoutIncrement', o => nativeDropoutIncrement({ numel: 16, vec: 4, grid: 1, ...o })],
  ['transformerEngineDropoutMask', o => transformerEngineDropoutMask({ numel: 16, p: 0.5, seed: 1, ...o })],
])('a misspelt option of %s is refused by name', (_, run) => {
  expect(() => run({})).not.toThrow();
  expect(() => run({ ofset: 3n })).toThrow(/^ofset is not an option; the options are .*/);
});

test('dropoutMask names the number of extents of a shape without four extents', () => {
  expect(() => dropoutMask({ ...mask, shape: [1, 2, 2] as never })).toThrow(
    'shape must be [B, H, Sq, Skv], got 3 extents',
  );
  expect(() => dropoutMask({ ...mask, shape: 4 as never })).toThrow('shape must be [B, H, Sq, Skv], got 4');
});

test.each([3, 'x', null, {}])('dropoutMask refuses rowStrides of %j', rowStrides => {
  expect(() => dropoutMask({ ...mask, rowStrides: rowStrides as never })).toThrow(
    expect.objectContaining({ argument: 'rowStrides' }),
  );
});

test.each<[call: string, run: () => unknown, argument: string]>([
  ['a seed and a key', () => new NumpyPhilox({ seed: 1, key: 2 } as never), 'options'],
  ['rounds besides the kernel', () => fillUniformWords({ seed: 1, rounds: 7, count: 4 } as never), 'rounds'],
  ['a negative entropy', () => seedSequenceState(-1n, 2), 'entropy'],
  ['a number as entropy', () => seedSequenceState(1 as never, 2), 'entropy'],
  ['half a state', () => seedSequenceState(1n, 0.5), 'count'],
  ['a release that does not exist', () => onednnLegacyWord(0, 1, '3.9' as never), 'release'],
  [
    'vectors that do not divide the tensor',
    () => nativeDropoutIncrement({ numel: 6, vec: 4, grid: 1 }),
    'vec',
  ],
])('%s is refused by name', (_, run, argument) => {
  expect(run).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', argument }));
});

test('a mask that does not fit into memory is an error of this library', () => {
  const [numel, p] = [2 ** 52, 0.5];
  for (const run of [
    () => nativeDropoutMask({ numel, p, seed: 1, offset: 0, vec: 4, grid: 1 }),
    () => transformerEngineDropoutMask({ numel, p, seed: 1 }),
  ])
    expect(run).toThrow(expect.objectContaining({ code: 'OUT_OF_MEMORY' }));
});

test('a bigint counts words as a number does', () => {
  expect(xlaRngBitGenerator([1, 2], 3n as never)).toEqual(xlaRngBitGenerator([1, 2], 3));
});
