import type { DropoutMaskOptions, DropoutOptions, StreamOptions } from '@tilewise/philox';
import type { TilewiseErrorOptions } from '@tilewise/philox/errors';
import type {
  atPhiloxEngine,
  NumpyPhiloxOptions,
  transformerEngineDropoutMask,
} from '@tilewise/philox/interop';
import type { dropoutMaskKernel, FillKernelOptions } from '@tilewise/philox/wgsl';
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
