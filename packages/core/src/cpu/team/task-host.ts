import type { Kernels } from '../kernels/interface/kernels.ts';
import { numberedLoops } from '../loops/numbered-loops.ts';
import type { TaskHost } from './tasks.ts';

const hosts = /* @__PURE__ */ new WeakMap<Kernels, TaskHost>();

/** The functions of kernels that tasks call. */
export function taskHost(kernels: Kernels): TaskHost {
  const known = hosts.get(kernels);
  if (known) return known;
  const { loops, matrices, heads } = kernels;
  if (!loops || !matrices || !heads) throw new Error('only kernels in WebAssembly run tasks');
  const host = { matrices, heads, loop: numberedLoops(loops) };
  hosts.set(kernels, host);
  return host;
}
