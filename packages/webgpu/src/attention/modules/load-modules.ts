import { TilewiseError } from '@tilewise/core';
import type { OptionReaders } from '@tilewise/core/engine';
import type { ExprTools } from '@tilewise/core/expr';
import type { InSegments } from '../../codegen/binding-limits/segments.ts';
import type { DropoutTools, SplitKvTools } from '../config/kernel-config.ts';
import type { ModStages } from '../score/stage.ts';
import type { optionalGradients } from './optional-gradients.ts';
import type { SequenceTools } from './sequence-tools.ts';

/**
 * The modules that are loaded while a context is created, so that they are not part of the bundle that a page
 * starts with: code for options that many programs do not use.
 */
export interface LoadedModules {
  /** The kernels of the options `dropout` and `outputs.dropoutMask`. */
  readonly dropout?: DropoutTools;
  /** The kernels of the options `scoreMod` and `maskMod`. */
  readonly mods?: (expr: ExprTools) => ModStages;
  /** The kernels in which several workgroups share the keys of few queries. */
  readonly splitKv?: SplitKvTools;
  /** The kernels of `dbias`, `dAlibi` and `dsink`, and of the gradients of tensors that a score mod loads. */
  readonly gradients?: typeof optionalGradients;
  /** Makes kernels for tensors that are larger than a device binds at once. */
  readonly largeTensors?: InSegments;
  /** Reads pages, and checks lengths, offsets and page tables that are on the host. */
  readonly sequences?: SequenceTools;
  /** Finds the valid name that is most similar to a misspelt one. */
  readonly hints?: OptionReaders['nearestName'];
}

/** The name of a module that is loaded while a context is created. */
export type LoadedModuleName = keyof LoadedModules;

/** The import that loads each module. */
const modules: { readonly [N in LoadedModuleName]-?: () => Promise<Required<LoadedModules>[N]> } = {
  dropout: async () => (await import('../dropout/dropout-tools.ts')).dropoutTools,
  mods: async () => (await import('../mods/mod-stages.ts')).modStages,
  splitKv: async () => (await import('../kernels/forward/split-kv.ts')).splitKvTools,
  gradients: async () => (await import('./optional-gradients.ts')).optionalGradients,
  largeTensors: async () => (await import('../../codegen/binding-limits/segments.ts')).inSegments,
  sequences: async () => (await import('./sequence-tools.ts')).sequenceTools,
  hints: async () => (await import('./nearest-name.ts')).nearestName,
};

/** The names of all modules. */
export const loadedModuleNames = /* @__PURE__ */ Object.keys(modules) as readonly LoadedModuleName[];

/** @throws TilewiseError `UNSUPPORTED`: code that a context needs could not be loaded. */
export function throwLoadError(cause: unknown): never {
  const message = `the code of the context could not be loaded: ${String(cause)}`;
  throw new TilewiseError('UNSUPPORTED', message, { cause });
}

/**
 * Loads these modules in parallel.
 * @throws TilewiseError as `throwLoadError` does.
 */
export async function loadModules(names: readonly LoadedModuleName[]): Promise<LoadedModules> {
  const loading = names.map(async name => [name, await modules[name]()] as const);
  return Object.fromEntries(await Promise.all(loading).catch(throwLoadError));
}
