import { expect, test } from 'vitest';
import { createDropout, dropoutMask, fillBernoulli, fillU32, PhiloxStream } from './index.ts';
import {
  atPhiloxEngine,
  NumpyPhilox,
  nativeDropoutIncrement,
  nativeDropoutMask,
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

test.each([3, 'x', null, {}])('dropoutMask refuses rowStrides of %j', rowStrides => {
  expect(() => dropoutMask({ ...mask, rowStrides: rowStrides as never })).toThrow(
    expect.objectContaining({ argument: 'rowStrides' }),
  );
});
