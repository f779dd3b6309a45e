import type { LoopHost } from '../kernels/interface/module-host.ts';
import { compileAtOnce } from '../kernels/wasm/variant-modules.ts';
import { type CompiledLoop, linkLoop } from './link-loop.ts';
import type { KeyedLoop } from './loop-spec.ts';
import { writeLoop } from './write/loop-writer.ts';

/** Modules by loop key, null if the host refuses to compile. */
const modules = new Map<string, WebAssembly.Module | null>();
/** Loops linked to the memory of a host, by loop key. */
const linked = new WeakMap<LoopHost, Map<string, CompiledLoop>>();
/** The maximum number of modules that are cached; equal loops share one. */
const MAX_MODULES = 1024;

/** A loop linked to the memory of a host; null if the host does not compile synchronously. */
export function compiledLoop(loop: KeyedLoop, host: LoopHost): CompiledLoop | null {
  const { key } = loop;
  const known = linked.get(host) ?? new Map<string, CompiledLoop>();
  linked.set(host, known);
  const found = known.get(key);
  if (found) return found;
  const module = loopModule(loop, host.shared);
  if (!module) return null;
  const run = linkLoop(module, host);
  if (known.size >= MAX_MODULES) known.clear();
  known.set(key, run);
  return run;
}

/**
 * Makes a function that links some loops to the memory of a host, at its first call with this host. The
 * function returns null if one of the loops is unavailable.
 */
export function linkedLoops(
  loops: readonly KeyedLoop[],
): (host: LoopHost | undefined) => readonly CompiledLoop[] | null {
  const known = new WeakMap<LoopHost, readonly CompiledLoop[]>();
  return host => {
    if (!host) return null;
    const found = known.get(host);
    if (found) return found;
    const compiled = loops.flatMap(loop => compiledLoop(loop, host) ?? []);
    if (compiled.length < loops.length) return null;
    known.set(host, compiled);
    return compiled;
  };
}

/** The module of a loop; null if the host does not compile synchronously. */
export function loopModule({ spec, key }: KeyedLoop, shared: boolean): WebAssembly.Module | null {
  const known = modules.get(key);
  if (known !== undefined) return known;
  const module = compileAtOnce(writeLoop(spec, shared));
  if (modules.size >= MAX_MODULES) modules.clear();
  modules.set(key, module);
  return module;
}
