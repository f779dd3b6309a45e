import type { BinaryOp, ExprType, UnaryOp } from '../../../expr/nodes/expr.ts';
import { decode, type Format, formatBytes, loadCode, loadFour, loadOne } from '../format.ts';
import { type LoopSpec, runNumbers, type Stream, type Table } from '../loop-spec.ts';
import { FunctionWriter, type Local } from '../wasm/function-writer.ts';
import { isSimplePower, type Value, writeOperator, writePower } from './operators.ts';
import { createSink, type Pointer } from './sink.ts';

/** How many elements the current code computes: four, one in the first lane, or one in all lanes. */
type Mode = 'four' | 'one' | 'row';

/** The module of a loop: `run` takes the address of the numbers of a run (`runNumbers`). */
export function writeLoop(spec: LoopSpec, sharedMemory: boolean): Uint8Array<ArrayBuffer> {
  const w = new FunctionWriter();
  const number = (n: number): Local => {
    const local = w.local('i32');
    w.get(w.parameter)
      .memory('i32Load', 4 * n)
      .set(local);
    return local;
  };
  const pointer = (n: number): Pointer => {
    const at = runNumbers.stream(n);
    return { at: w.local('i32'), start: number(at), step: number(at + 1), row: number(at + 2) };
  };
  const count = number(runNumbers.count);
  const rows = number(runNumbers.rows);
  const output = pointer(-1);
  const streams = spec.streams.map((_, n) => pointer(n));
  const tables = spec.tables.map((_, n) => number(runNumbers.table(spec, n)));
  const places = Array.from({ length: spec.rank }, (_, d) => number(runNumbers.place(spec, d)));
  const inner = w.local('v128');
  const left = w.local('i32');
  const sink = createSink(w, spec.output, output);
  const { nodes } = spec;
  const values = nodes.map(([, type]): Value => ({ local: w.local('v128'), type: type as ExprType }));
  const varying = variation(spec);

  function writeNode(n: number, mode: Mode): void {
    const [kind, type, detail, ...operands] = nodes[n];
    const inputs = operands.map(at => values[at]);
    if (kind === 'constant' && type === 'f32') w.floats(Number(detail));
    else if (kind === 'constant') w.words(type === 'bool' ? -Number(detail) : Number(detail));
    else if (kind === 'select') {
      const [condition, whenTrue, whenFalse] = inputs;
      w.get(whenTrue.local, whenFalse.local, condition.local).vector('bitselect');
    } else if (kind === 'load') writeLoad(n, String(detail), operands, mode);
    else if (detail === 'pow' && isSimplePower(constantAt(operands[1]))) {
      writePower(w, inputs[0].local, constantAt(operands[1]));
    } else writeOperator(w, detail as UnaryOp | BinaryOp, inputs);
    w.set(values[n].local);
  }

  /** The value of a constant; NaN for any other node. */
  function constantAt(n: number): number {
    return nodes[n][0] === 'constant' ? Number(nodes[n][2]) : NaN;
  }

  function writeLoad(n: number, name: string, index: readonly number[], mode: Mode): void {
    if (name === 'coordinate') {
      const d = Number(nodes[index[0]][2]);
      if (d === spec.rank - 1) w.get(inner);
      else w.get(places[d]).vector('i32x4Splat');
      return;
    }
    const sources: readonly (Stream | Table)[] = index.length > 0 ? spec.tables : spec.streams;
    const s = sources.findIndex(source => source.name === name);
    if (index.length > 0) loadFromTable(spec.tables[s], tables[s], index, mode);
    else loadFromStream(spec.streams[s], streams[s], mode);
    decode(w, sources[s].format, values[n].type);
  }

  /** Loads four elements as codes, from addresses that `address` writes one by one. */
  function loadLanes(format: Format, address: (lane: number) => void): void {
    address(0);
    loadCode(w, format).vector('i32x4Splat');
    for (let lane = 1; lane < 4; lane++) {
      address(lane);
      loadCode(w, format).vector('i32x4ReplaceLane', lane);
    }
  }

  function loadFromStream({ format, step }: Stream, { at, step: bytes }: Pointer, mode: Mode): void {
    if (mode === 'four' && step === 'next') loadFour(w, format, at);
    else if (mode === 'four' && step === 'far')
      loadLanes(format, lane => w.get(at, bytes).i32(lane).scalar('i32Mul').scalar('i32Add'));
    else loadOne(w.get(at), format);
  }

  function loadFromTable(
    { format, shape, strides }: Table,
    base: Local,
    index: readonly number[],
    mode: Mode,
  ): void {
    const bytes = formatBytes[format];
    const offsets = w.local('v128');
    w.words(0);
    index.forEach((at, d) => {
      w.get(values[at].local)
        .words(shape[d] - 1)
        .vector('i32x4MinS')
        .words(0)
        .vector('i32x4MaxS');
      w.words(strides[d] * bytes)
        .vector('i32x4Mul')
        .vector('i32x4Add');
    });
    w.set(offsets);
    const address = (lane: number): FunctionWriter =>
      w.get(base, offsets).vector('i32x4ExtractLane', lane).scalar('i32Add');
    if (mode === 'four') loadLanes(format, address);
    else loadOne(address(0), format);
  }

  /** Computes four elements or one, and advances past them. */
  function writeElements(mode: 'four' | 'one'): void {
    const size = mode === 'four' ? 4 : 1;
    for (const [n, level] of varying.entries()) if (level === 'element') writeNode(n, mode);
    sink.element(mode, values[values.length - 1]);
    spec.streams.forEach(({ step }, s) => {
      if (step !== 'none') advance(streams[s], size);
    });
    if (spec.output.step !== 'none') advance(output, size);
    w.get(inner).words(size).vector('i32x4Add').set(inner);
  }

  function advance({ at, step }: Pointer, count: number): void {
    w.get(step);
    if (count > 1) w.i32(count).scalar('i32Mul');
    w.increase(at);
  }

  function nextRow(): void {
    for (const { start, row } of [output, ...streams]) w.get(row).increase(start);
    if (spec.rank > 1) w.i32(1).increase(places[spec.rank - 2]);
  }

  for (const [n, level] of varying.entries()) if (level === 'never') writeNode(n, 'row');
  w.countDown(rows, () => {
    for (const { at, start } of [output, ...streams]) w.get(start).set(at);
    w.words(0, 1, 2, 3).set(inner);
    for (const [n, level] of varying.entries()) if (level === 'row') writeNode(n, 'row');
    sink.start?.();
    w.get(count).i32(2).scalar('i32ShrU').set(left);
    w.countDown(left, () => writeElements('four'));
    sink.afterFours?.();
    w.get(count).i32(3).scalar('i32And').set(left);
    w.countDown(left, () => writeElements('one'));
    sink.end?.();
    nextRow();
  });
  return w.module(sharedMemory);
}

/** How often the value of a node changes: never, from row to row, or from element to element. */
function variation({ nodes, streams, rank }: LoopSpec): ('never' | 'row' | 'element')[] {
  const levels: ('never' | 'row' | 'element')[] = [];
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
