import type { LoopHost } from '../kernels/interface/module-host.ts';
import { compiledLoop, loopModule } from './compiled-loop.ts';
import type { CompiledLoop } from './link-loop.ts';
import type { KeyedLoop } from './loop-spec.ts';

/** The maximum number of loops that get a number. */
const MAX_LOOPS = 1024;

const known: KeyedLoop[] = [];
const modules: WebAssembly.Module[] = [];
const numbers = new Map<string, number>();

/**
 * The number by which tasks on any thread refer to a loop; null if the host does not compile synchronously,
 * or if there are too many loops.
 */
export function loopNumber(loop: KeyedLoop, { shared }: LoopHost): number | null {
  const number = numbers.get(loop.key);
  if (number !== undefined) return number;
  const module = known.length < MAX_LOOPS ? loopModule(loop, shared) : null;
  if (!module) return null;
  modules.push(module);
  numbers.set(loop.key, known.push(loop) - 1);
  return known.length - 1;
}

/** The modules of all loops that have numbers, by number. */
export function numberedModules(): readonly WebAssembly.Module[] {
  return modules;
}

/** Returns a function that gives the loop with a number, linked to the memory of a host. */
export function numberedLoops(host: LoopHost): (number: number) => CompiledLoop {
  const linked: CompiledLoop[] = [];
  return number => {
    const found = linked[number];
    if (found) return found;
    const loop = compiledLoop(known[number], host);
    if (!loop) throw new Error('loops are compiled before they get numbers');
    linked[number] = loop;
    return loop;
  };
}
