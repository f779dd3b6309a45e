/**
 * Work of one wave: clocks in which it issues instructions, clocks in which it waits for memory, and what it
 * does. All as Mesa's compiler estimates and lists it.
 */
export interface WaveWork {
  readonly busy: number;
  readonly waiting: number;
  /** Multiply-adds of a lane. */
  readonly multiplyAdds: number;
  /** Reads of storage. */
  readonly reads: number;
  readonly barriers: number;
}

/** A loop of a kernel, or the whole kernel: what one turn does besides the loops in it. */
export interface Loop {
  readonly own: WaveWork;
  readonly loops: readonly Loop[];
  /** The numbers that instructions of `own` hold as they are, those of `markedLoops` among them. */
  readonly literals: ReadonlySet<number>;
}

interface Block {
  readonly number: number;
  readonly isHeader: boolean;
  readonly predecessors: readonly number[];
  readonly instructions: readonly { readonly clocks: number; readonly text: string }[];
}

/**
 * The loops of a kernel, from what `RADV_DEBUG=shaders ACO_DEBUG=perfinfo` prints of it: the last listing of
 * its instructions, each with the clocks that it takes.
 */
export function parseListing(text: string): Loop {
  const start = text.lastIndexOf('After lowering to hw instructions:');
  const end = text.indexOf('\ndisasm:', start);
  if (start < 0 || end < 0) throw new Error('Mesa printed no listing of instructions');
  return loopOf(blocksOf(text.slice(start, end)));
}

const blocksOf = (listing: string): Block[] =>
  listing
    .split(/^(?=BB\d+$)/m)
    .slice(1)
    .map(block => ({
      number: Number(/^BB(\d+)/.exec(block)?.[1]),
      isHeader: /kind:[^/]*loop-header/.test(block),
      predecessors: [...(/linear preds:([^/]*)\//.exec(block)?.[1] ?? '').matchAll(/BB(\d+)/g)].map(
        ([, number]) => Number(number),
      ),
      instructions: [...block.matchAll(/^\s*\(\s*(\d+) clk\)\s+(.*)$/gm)].map(([, clocks, line]) => ({
        clocks: Number(clocks),
        text: line,
      })),
    }));

/** A loop lasts from its header to the last block that jumps there. */
function loopOf(blocks: readonly Block[], header?: Block): Loop {
  const own: Block[] = [];
  const loops: Loop[] = [];
  for (let n = 0; n < blocks.length; n++) {
    const block = blocks[n];
    const last = blocks.findIndex(({ number }) => number === Math.max(...block.predecessors));
    if (!block.isHeader || block === header || last < n) {
      own.push(block);
    } else {
      loops.push(loopOf(blocks.slice(n, last + 1), block));
      n = last;
    }
  }
  const instructions = own.flatMap(block => block.instructions);
  const literals = instructions.flatMap(({ text }) => text.match(/0x[0-9a-f]+/g) ?? []).map(Number);
  return { own: workOf(instructions), loops, literals: new Set(literals) };
}

function workOf(instructions: Block['instructions']): WaveWork {
  let [busy, waiting, multiplyAdds, reads, barriers] = [0, 0, 0, 0, 0];
  for (const { clocks, text } of instructions) {
    const [name] = text.replace(/^.* = /, '').split(' ', 1);
    if (/^s_waitcnt/.test(name)) waiting += clocks;
    else busy += clocks;
    multiplyAdds += text.match(/v_(dual_)?(fma|fmac|fmaak|fmamk|fma_mix|pk_fma)_/g)?.length ?? 0;
    if (/^(buffer|global)_load/.test(name)) reads++;
    if (name === 's_barrier') barriers++;
  }
  return { busy, waiting, multiplyAdds, reads, barriers };
}

/** WGSL whose loops can be found again in a listing. */
export interface MarkedLoops {
  readonly wgsl: string;
  /** The loops in order: the variable of each, the literal that marks the loop, and how often it turns. */
  readonly loops: readonly { readonly variable: string; readonly mark: number; readonly turns: number }[];
}

const firstMark = 0x51a70000;

/**
 * Compares the variable of each loop with a number of the loop's own, which the variable never has: compilers
 * keep the number where they keep the loop. `values` are those of the variables that bounds of loops name. A
 * loop with other bounds turns once: a loop over tiles is counted by the turn.
 */
export function markLoops(wgsl: string, values: Readonly<Record<string, number>>): MarkedLoops {
  const loops: MarkedLoops['loops'][number][] = [];
  const numberOf = (text: string): number => values[text] ?? Number(text.replace(/u$/, ''));
  const marked = wgsl.replace(
    /for \(var (\w+) = ([^;]+); \1 < ([^;]+); \1(?: \+= (\w+)|\+\+)\) \{/g,
    (header: string, variable: string, from: string, to: string, step: string | undefined, at: number) => {
      const mark = firstMark + loops.length;
      const count = Math.ceil((numberOf(to) - numberOf(from)) / (step ? numberOf(step) : 1));
      // The slow way around NaN and infinity is not taken.
      const isSlow = /weighted\(/.test(wgsl.slice(at, wgsl.indexOf('}', at + header.length)));
      loops.push({ variable, mark, turns: isSlow ? 0 : Number.isNaN(count) ? 1 : count });
      return `${header}\nif (${variable} == ${mark}u) { atomicStore(&non_finite, 2u); }`;
    },
  );
  return { wgsl: marked, loops };
}

/** Turns by the mark of a loop. */
export type Turns = ReadonlyMap<number, number>;

/** The work of one turn of a loop, with all turns of the loops in it. @throws for a loop without a mark. */
export function workOfTurn({ own, loops }: Loop, turns: Turns): WaveWork {
  const add = (a: WaveWork, b: WaveWork, times: number): WaveWork => ({
    busy: a.busy + times * b.busy,
    waiting: a.waiting + times * b.waiting,
    multiplyAdds: a.multiplyAdds + times * b.multiplyAdds,
    reads: a.reads + times * b.reads,
    barriers: a.barriers + times * b.barriers,
  });
  return loops.reduce((sum, loop) => add(sum, workOfTurn(loop, turns), turnsOf(loop, turns)), own);
}

function turnsOf(loop: Loop, turns: Turns): number {
  for (const [mark, count] of turns) if (loop.literals.has(mark)) return count;
  throw new Error('a loop of the listing has no mark');
}

/** The loop with a mark. */
export function findLoop(kernel: Loop, mark: number): Loop | null {
  if (kernel.literals.has(mark)) return kernel;
  for (const loop of kernel.loops) {
    const found = findLoop(loop, mark);
    if (found) return found;
  }
  return null;
}
