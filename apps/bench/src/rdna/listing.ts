/**
 * The work of one wave: clocks in which it issues instructions, clocks in which it waits for memory, and
 * counts of its operations. Mesa's compiler estimates and lists all of these.
 */
export interface WaveWork {
  readonly busy: number;
  readonly waiting: number;
  /** Multiply-adds per lane. */
  readonly multiplyAdds: number;
  /** Reads from storage. */
  readonly reads: number;
  readonly barriers: number;
}

/** A loop of a kernel, or the whole kernel: the work of one iteration, without the loops inside it. */
export interface Loop {
  readonly own: WaveWork;
  readonly loops: readonly Loop[];
  /** The immediate numbers in the instructions of `own`, which include the marks of `markLoops`. */
  readonly literals: ReadonlySet<number>;
}

interface Block {
  readonly number: number;
  readonly isHeader: boolean;
  readonly predecessors: readonly number[];
  readonly instructions: readonly { readonly clocks: number; readonly text: string }[];
}

/**
 * Parses the loops of a kernel from the output of `RADV_DEBUG=shaders ACO_DEBUG=perfinfo`: the last listing
 * of its instructions, each with its clocks.
 */
export function parseListing(text: string): Loop {
  const start = text.lastIndexOf('After lowering to hw instructions:');
  const end = text.indexOf('\ndisasm:', start);
  if (start < 0 || end < 0) throw new Error('Mesa did not print a listing of instructions');
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

/** A loop reaches from its header to the last block that jumps back to the header. */
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

/** WGSL whose loops can be recognised in a listing. */
export interface MarkedLoops {
  readonly wgsl: string;
  /**
   * The loops in order: the variable of each, the literal that marks the loop, and the number of its
   * iterations.
   */
  readonly loops: readonly {
    readonly variable: string;
    readonly mark: number;
    readonly iterations: number;
  }[];
}

const firstMark = 0x51a70000;

/**
 * Marks each loop by comparing its variable with a number of the loop's own, which the variable never
 * reaches; compilers keep that number where they keep the loop. `values` are the values of variables in loop
 * bounds. A loop with other bounds counts as one iteration, because a loop over tiles is counted per
 * iteration.
 */
export function markLoops(wgsl: string, values: Readonly<Record<string, number>>): MarkedLoops {
  const loops: MarkedLoops['loops'][number][] = [];
  const numberOf = (text: string): number => values[text] ?? Number(text.replace(/u$/, ''));
  const marked = wgsl.replace(
    /for \(var (\w+) = ([^;]+); \1 < ([^;]+); \1(?: \+= (\w+)|\+\+)\) \{/g,
    (header: string, variable: string, from: string, to: string, step: string | undefined, at: number) => {
      const mark = firstMark + loops.length;
      const count = Math.ceil((numberOf(to) - numberOf(from)) / (step ? numberOf(step) : 1));
      // The slow path for NaN and infinity is not taken.
      const isSlow = /weighted\(/.test(wgsl.slice(at, wgsl.indexOf('}', at + header.length)));
      loops.push({ variable, mark, iterations: isSlow ? 0 : Number.isNaN(count) ? 1 : count });
      return `${header}\nif (${variable} == ${mark}u) { atomicStore(&non_finite, 2u); }`;
    },
  );
  return { wgsl: marked, loops };
}

/** The number of iterations by the mark of a loop. */
export type Iterations = ReadonlyMap<number, number>;

/**
 * The work of one iteration of a loop, with all iterations of the loops inside it.
 * @throws Error for a loop without a mark.
 */
export function workOfIteration({ own, loops }: Loop, iterations: Iterations): WaveWork {
  const add = (a: WaveWork, b: WaveWork, times: number): WaveWork => ({
    busy: a.busy + times * b.busy,
    waiting: a.waiting + times * b.waiting,
    multiplyAdds: a.multiplyAdds + times * b.multiplyAdds,
    reads: a.reads + times * b.reads,
    barriers: a.barriers + times * b.barriers,
  });
  return loops.reduce(
    (sum, loop) => add(sum, workOfIteration(loop, iterations), iterationsOf(loop, iterations)),
    own,
  );
}

function iterationsOf(loop: Loop, iterations: Iterations): number {
  for (const [mark, count] of iterations) if (loop.literals.has(mark)) return count;
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
