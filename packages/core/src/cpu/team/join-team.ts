import { type EngineFunctions, engineFunctions } from '../kernels/wasm/engine-functions.ts';
import { type CompiledLoop, linkLoop } from '../loops/link-loop.ts';
import type { Region } from '../threads/message.ts';
import { control, NEVER, runTasks } from './control.ts';

/**
 * The worker that checks for the next step before it sleeps, and how long, in milliseconds: longer than the
 * calling thread usually takes from one program to the next, because waking a thread can take as long as
 * several steps. The others sleep at once, because the host may have fewer processors for this process than
 * threads: a container's share of them is not visible.
 */
const SPINNING_WORKER = 1;
const SPIN_MS = 4;
/** How long a worker sleeps, unless a step wakes it, before it checks for messages, in milliseconds. */
const SLEEP_TIMEOUT = 100;

/** The instances that a worker has created on one memory. */
interface Linked {
  readonly memoryNumber: number;
  readonly memory: WebAssembly.Memory;
  readonly functions: EngineFunctions;
  readonly loops: Map<number, CompiledLoop>;
}

const modules: WebAssembly.Module[] = [];
let linked: Linked | null = null;

/** Shares steps on the thread of a worker, which it blocks until the region ends. */
export function joinTeam(asked: Region): void {
  const { shared, region, thread } = asked;
  const joined = control.joined + thread - 1;
  for (const [n, loop] of asked.loops.entries()) modules[asked.firstLoop + n] = loop;
  let own: Linked;
  try {
    own = linkedOn(asked);
  } catch {
    Atomics.store(shared, joined, NEVER);
    return;
  }
  const { memory, functions, loops } = own;
  const { matrices, heads, lanes } = functions;
  Atomics.add(shared, control.awake, 1);
  try {
    const loop = (id: number): CompiledLoop => {
      const made = loops.get(id) ?? linkLoop(modules[id], { memory, shared: true, lanes });
      loops.set(id, made);
      return made;
    };
    // A view of the memory at its current size. If the memory grows, a new region starts.
    const words = new Int32Array(asked.memory.buffer);
    while (Atomics.load(shared, control.region) === region) {
      const step = Atomics.load(shared, control.step);
      runTasks(shared, region, () => words, thread, { matrices, heads, loop });
      if (Atomics.load(shared, control.region) !== region) break;
      if (thread === SPINNING_WORKER && spinForStep(shared, step)) continue;
      Atomics.sub(shared, control.awake, 1);
      Atomics.add(shared, control.sleeping, 1);
      const woken = Atomics.wait(shared, control.step, step, SLEEP_TIMEOUT);
      Atomics.sub(shared, control.sleeping, 1);
      Atomics.add(shared, control.awake, 1);
      if (woken === 'timed-out') break;
    }
  } catch {
    Atomics.store(shared, control.failed, 1);
    Atomics.notify(shared, control.done);
  }
  Atomics.sub(shared, control.awake, 1);
  Atomics.compareExchange(shared, joined, region, 0);
}

/** Checks for the next step without sleeping; returns whether it has come. */
function spinForStep(shared: Int32Array, step: number): boolean {
  const end = performance.now() + SPIN_MS;
  do {
    for (let spins = 0; spins < 100; spins++) if (Atomics.load(shared, control.step) !== step) return true;
  } while (performance.now() < end);
  return false;
}

function linkedOn({ memory, memoryNumber, thread, kernelModules }: Region): Linked {
  if (linked?.memoryNumber === memoryNumber) return linked;
  const functions = engineFunctions(kernelModules, memory, thread);
  linked = { memoryNumber, memory, functions, loops: new Map() };
  return linked;
}
