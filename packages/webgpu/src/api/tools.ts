import { InvalidArgumentError, type SdpaOptions } from '@tilewise/core';
import type { ExprTools } from '@tilewise/core/expr';
import type { Fp8Tools } from '../attention/fp8/fp8-tools.ts';
import type { Mxfp8Tools } from '../attention/fp8/mxfp8-tools.ts';

/**
 * What makes the kernels of options that few programs use. In an eager call the values of these options bring it along, so that a
 * program without them does not hold it; plans and engines, which see them as plain data, have all of it.
 */
export interface KernelTools {
  /** Writes score and mask mods as WGSL. */
  readonly expr: ExprTools | null;
  readonly fp8: Fp8Tools | null;
  /** Never without `fp8`. */
  readonly mxfp8: Mxfp8Tools | null;
}

export const noTools: KernelTools = { expr: null, fp8: null, mxfp8: null };

/** The key of the tools in the value of an option. Other engines, and whoever lists its names, do not see it. */
export const broughtTools: unique symbol = /* @__PURE__ */ Symbol.for('@tilewise/webgpu tools');

/** The value of an option with the tools that it brings. */
export type WithTools<Value> = Value & { readonly [broughtTools]: Partial<KernelTools> };

/**
 * The tools that the options of a call bring. What is no options at all, `normalise` refuses.
 * @throws InvalidArgumentError for a plain `fp8` or `mxfp8`, which brings none.
 */
export function toolsOf(options: SdpaOptions<unknown>): KernelTools {
  const { scoreMod, maskMod, fp8, mxfp8 } = options ?? {};
  const expr = (scoreMod ?? maskMod)?.tools ?? null;
  return { ...noTools, expr, ...brought('fp8', fp8), ...brought('mxfp8', mxfp8) };
}

function brought(name: string, value: object | undefined): Partial<KernelTools> {
  if (!value) return {};
  if (typeof value === 'object' && broughtTools in value) return (value as WithTools<object>)[broughtTools];
  throw new InvalidArgumentError(
    name,
    `must be made by ${name}() of '@tilewise/webgpu/fp8', which brings its kernels`,
  );
}
