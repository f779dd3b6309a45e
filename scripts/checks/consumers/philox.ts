import {
  type DropoutMaskOptions,
  type DropoutOptions,
  dropoutMask,
  fillUniform,
  type StreamOptions,
} from '@tilewise/philox';
import type { TilewiseErrorOptions } from '@tilewise/philox/errors';
import type {
  atPhiloxEngine,
  NumpyPhiloxOptions,
  transformerEngineDropoutMask,
} from '@tilewise/philox/interop';
import type { dropoutMaskKernel, dropoutUniformWords, FillKernelOptions } from '@tilewise/philox/wgsl';
import { type Closed, none } from './optional.ts';

none<Closed<DropoutMaskOptions>>();
none<Closed<DropoutOptions>>();
none<Closed<StreamOptions>>();
none<Closed<TilewiseErrorOptions>>();
none<Closed<NonNullable<Parameters<typeof atPhiloxEngine>[1]>>>();
none<Closed<NumpyPhiloxOptions>>();
none<Closed<Parameters<typeof transformerEngineDropoutMask>[0]>>();
none<Closed<FillKernelOptions>>();
none<Closed<Parameters<typeof dropoutMaskKernel>[0]>>();

/** A Blob and `@webgpu/types` accept masks and words, because threads do not share their memory. */
export const drawn = (options: DropoutMaskOptions, words: ReturnType<typeof dropoutUniformWords>): Blob =>
  new Blob([dropoutMask(options), words, fillUniform(new Float32Array(4), { seed: 1 })]);
