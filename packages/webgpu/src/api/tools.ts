import { InvalidArgumentError, type SdpaOptions } from '@tilewise/core';
import { type KernelTools, noTools } from '../attention/kernel-config.ts';
import type { fp8List } from './fp8-list.ts';

/** The tools for the kernels of a call, and what fills the list `fp8`, if it has one. */
export interface CallTools extends KernelTools {
  readonly list?: typeof fp8List;
}

/**
 * The key of the tools in the value of an option. Other engines, and whoever lists its names, do not see it.
 */
export const broughtTools: unique symbol = /* @__PURE__ */ Symbol.for('@tilewise/webgpu tools');

/** The value of an option with the tools that it brings. */
export type WithTools<Value> = Value & { readonly [broughtTools]: Partial<CallTools> };

/**
 * The tools that the options of a call bring. What is no options at all, `normalise` refuses.
 * @throws InvalidArgumentError for a plain `fp8` or `mxfp8`, which brings none.
 */
export function toolsOf(options: SdpaOptions<unknown>): CallTools {
  const { scoreMod, maskMod, fp8, mxfp8 } = options ?? {};
  const expr = (scoreMod ?? maskMod)?.tools ?? null;
  return { ...noTools, expr, ...brought('fp8', fp8), ...brought('mxfp8', mxfp8) };
}

function brought(name: string, value: object | undefined): Partial<CallTools> {
  if (!value) return {};
  if (typeof value === 'object' && broughtTools in value) return (value as WithTools<object>)[broughtTools];
  throw new InvalidArgumentError(
    name,
    `must be made by ${name}() of '@tilewise/webgpu/fp8', which brings its kernels`,
  );
}
