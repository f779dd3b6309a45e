import { expect, test } from 'vitest';
import {
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
  dropoutUniformWords,
  fillKernel,
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
