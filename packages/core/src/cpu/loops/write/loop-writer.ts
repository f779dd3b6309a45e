import type { LoopSpec } from '../loop-spec.ts';
import { FunctionWriter } from '../wasm/function-writer.ts';
import { type Pointer, writeLocals } from './loop-locals.ts';
import { createSink } from './sink.ts';
import type { Mode } from './write-load.ts';
import { writeNode } from './write-node.ts';

/** The module of a loop: `run` takes the address of the numbers of a run (`runNumbers`). */
export function writeLoop(spec: LoopSpec, sharedMemory: boolean): Uint8Array<ArrayBuffer> {
  const w = new FunctionWriter();
  const locals = writeLocals(w, spec);
  const { count, rows, output, streams, coordinates, inner, left, values } = locals;
  const sink = createSink(w, spec.output, output);
  const pointers = [output, ...streams];
  const levels = variation(spec);

  function writeNodes(level: Level, mode: Mode): void {
    for (const [n, own] of levels.entries()) if (own === level) writeNode(w, spec, locals, n, mode);
  }

  /** Computes four elements or one, and advances past them. */
  function writeElements(mode: 'four' | 'one'): void {
    const size = mode === 'four' ? 4 : 1;
    writeNodes('element', mode);
    sink.element(mode, values[values.length - 1]);
    spec.streams.forEach(({ step }, s) => {
      if (step !== 'none') advance(w, streams[s], size);
    });
    if (spec.output.step !== 'none') advance(w, output, size);
    w.get(inner).words(size).vector('i32x4Add').set(inner);
  }

  writeNodes('never', 'row');
  w.countDown(rows, () => {
    for (const { at, start } of pointers) w.get(start).set(at);
    w.words(0, 1, 2, 3).set(inner);
    writeNodes('row', 'row');
    sink.start?.();
    w.get(count).i32(2).scalar('i32ShrU').set(left);
    w.countDown(left, () => writeElements('four'));
    sink.afterFours?.();
    w.get(count).i32(3).scalar('i32And').set(left);
    w.countDown(left, () => writeElements('one'));
    sink.end?.();
    for (const { start, row } of pointers) w.get(row).increase(start);
    if (spec.rank > 1) w.i32(1).increase(coordinates[spec.rank - 2]);
  });
  return w.module(sharedMemory);
}

/** Advances a pointer past `count` elements. */
function advance(w: FunctionWriter, { at, step }: Pointer, count: number): void {
  w.get(step);
  if (count > 1) w.i32(count).scalar('i32Mul');
  w.increase(at);
}

/** How often the value of a node changes: never, from row to row, or from element to element. */
type Level = 'never' | 'row' | 'element';

/** The level of each node. */
function variation({ nodes, streams, rank }: LoopSpec): readonly Level[] {
  const levels: Level[] = [];
  nodes.forEach(([kind, , detail, ...operands], n) => {
    if (kind === 'constant') levels[n] = 'never';
    else if (kind === 'load' && detail === 'coordinate') {
      levels[n] = Number(nodes[operands[0]][2]) === rank - 1 ? 'element' : 'row';
    } else if (kind === 'load' && operands.length === 0) {
      levels[n] = streams.find(({ name }) => name === detail)?.step === 'none' ? 'row' : 'element';
    } else levels[n] = operands.some(at => levels[at] === 'element') ? 'element' : 'row';
  });
  return levels;
}
