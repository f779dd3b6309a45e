import {
  type AttentionProblem,
  type GradientName,
  InvalidArgumentError,
  type SdpaOptions,
  type TensorDesc,
} from '@tilewise/core';
import { dtypeTraits, type OptionReaders } from '@tilewise/core/engine';
import type { ExprTools } from '@tilewise/core/expr';
import type { KernelTools } from '../../attention/config/kernel-config.ts';
import { namesOf } from '../../codegen/text.ts';
import type { GpuContext } from '../../runtime/context.ts';
import type { fp8List } from './fp8-list.ts';

/** The tools for the kernels of a call, and the function that makes the list `fp8`, if the call has one. */
export interface CallTools extends KernelTools {
  /** Reads the expressions of the call's mods, if there are any. */
  readonly expr?: ExprTools;
  readonly checks: Pick<OptionReaders, 'data' | 'nearestName'>;
  readonly list?: typeof fp8List;
}

/**
 * The key under which the value of an option holds its tools. A symbol, so that other engines and code that
 * lists the value's names do not see the tools.
 */
export const toolsKey: unique symbol = /* @__PURE__ */ Symbol.for('@tilewise/webgpu tools');

/** The value of an option, with the tools that the option brings. */
export type WithTools<Value> = Value & { readonly [toolsKey]: Partial<CallTools> };

/**
 * The tools that the options of a call bring, and those that the context has loaded. Options of a wrong type
 * pass here; `normalise` refuses them.
 * @throws InvalidArgumentError for a plain object as `fp8` or `mxfp8`, which brings no tools.
 */
export function toolsOf(ctx: GpuContext, options: SdpaOptions<unknown>): CallTools {
  const { scoreMod, maskMod, fp8, mxfp8 } = options ?? {};
  const { tools } = scoreMod ?? maskMod ?? {};
  const expr = tools && isComplete(tools) ? tools : undefined;
  return { ...loadedTools(ctx, expr), ...toolsOfOption('fp8', fp8), ...toolsOfOption('mxfp8', mxfp8) };
}

/** False for the tools of `checkedMod`, which serve engines only. */
const isComplete = (tools: Partial<ExprTools>): tools is ExprTools => tools.writeWgsl !== undefined;

/** The tools that the context has loaded. */
export function loadedTools({ modules }: GpuContext, expr: ExprTools | undefined): CallTools {
  const { dropout, splitKv, largeTensors: segments, mods, gradients, sequences, hints = null } = modules;
  return {
    expr,
    dropout,
    splitKv,
    segments,
    pages: sequences?.pages,
    inputGradients: gradients?.input,
    ...(expr && { mods: mods?.(expr), captureGradients: gradients?.capture(expr) }),
    checks: { data: sequences?.checks ?? null, nearestName: hints },
  };
}

/** Takes the functions that read a call's options from these tools. */
export const readersOf = ({ checks, fp8 }: CallTools): OptionReaders => ({
  ...checks,
  fp8: fp8?.readers ?? null,
});

/** Whether some of these tensors may have a gradient. */
export const hasFloats = (tensors: Readonly<Record<string, TensorDesc>>): boolean =>
  Object.values(tensors).some(({ dtype }) => dtypeTraits[dtype].kind === 'float');

/**
 * The reasons why the tools do not suffice for a problem: modules that the context has not loaded.
 * @param gradients the gradients that a backward problem asks for.
 */
export function missingModules(
  { dropout, mods, inputGradients, pages }: KernelTools,
  problem: AttentionProblem,
  gradients?: readonly GradientName[],
): string[] {
  const { scoreMod, maskMod, captures, q, k, v } = problem;
  const isDense = [q, k, v].every(({ starts, page }) => starts === 'strided' && page === null);
  const isFull = isDense && problem.lengthsQ === 'full' && problem.lengthsKv === 'full';
  const summed = gradients?.some(name => name === 'dbias' || name === 'dAlibi' || name === 'dsink');
  const captured = gradients && scoreMod && hasFloats(captures);
  return namesOf({
    dropout: (problem.dropout || problem.outputs.dropoutMask) && !dropout,
    mods: (scoreMod || maskMod) && !mods,
    sequences: !isFull && !pages,
    gradients: (summed || captured) && !inputGradients,
  }).map(name => `the module '${name}' was not loaded: name it in createContext({ load })`);
}

function toolsOfOption(name: string, value: object | undefined): Partial<CallTools> {
  if (!value) return {};
  if (typeof value === 'object' && toolsKey in value) return (value as WithTools<object>)[toolsKey];
  throw new InvalidArgumentError(
    name,
    `must be made by ${name}() of '@tilewise/webgpu/fp8', which brings its kernels`,
  );
}
