import type { LoopHost } from '../kernels/interface/module-host.ts';
import type { Memory } from '../kernels/memory/memory.ts';
import { compiledLoop } from './compiled-loop.ts';
import { type Format, formatBytes } from './format.ts';
import { type KeyedLoop, type LoopSpec, runNumbers } from './loop-spec.ts';

/** Lines of elements in the kernels' memory. */
export interface SourceLines {
  readonly format: Format;
  /** The address of the first element. */
  readonly at: number;
  /** Bytes from one line to the next, and from one element to the next. */
  readonly lineBytes: number;
  readonly stepBytes: number;
}

/** Copies `count` lines of `length` elements as f32 to lines `ld` bytes apart. */
export function convertLines(
  host: LoopHost,
  memory: Memory,
  { format, at, lineBytes, stepBytes }: SourceLines,
  count: number,
  length: number,
  target: number,
  ld: number,
): void {
  const isNext = stepBytes === formatBytes[format];
  const converting = converter(format, isNext);
  const loop = compiledLoop(converting, host);
  if (!loop) throw new Error('loops that convert elements are small enough to be compiled anywhere');
  const numbers = memory.scratch(runNumbers.length(converting.spec)).at;
  memory.i32.set([length, count, target, 4, ld, at, stepBytes, lineBytes, 0, 0], numbers >>> 2);
  loop(numbers);
}

const converters = new Map<string, KeyedLoop>();

function converter(format: Format, isNext: boolean): KeyedLoop {
  const name = `${format} ${isNext}`;
  const known = converters.get(name);
  if (known) return known;
  const spec: LoopSpec = {
    nodes: [['load', 'f32', 'x0']],
    streams: [{ name: 'x0', format, step: isNext ? 'next' : 'far' }],
    tables: [],
    rank: 2,
    output: { kind: 'store', format: 'f32', step: 'next' },
  };
  const made = { spec, key: JSON.stringify(spec) };
  converters.set(name, made);
  return made;
}
