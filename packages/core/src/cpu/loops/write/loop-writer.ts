import type { FlatNode } from '../../../expr/canonical.ts';
import type { BinaryOp, ExprType, UnaryOp } from '../../../expr/nodes/expr.ts';
import {
  convert,
  decode,
  floatBytes,
  formatBytes,
  loadCode,
  loadFour,
  loadOne,
  typeOfFormat,
  wordBytes,
} from '../format.ts';
import { type LoopSpec, runNumbers, type Table } from '../loop-spec.ts';
import { FunctionWriter, type Local } from '../wasm/function-writer.ts';
import { isSimplePower, type Value, writeOperator, writePower } from './operators.ts';
import { createSink, type Pointer } from './sink.ts';

/** How many elements the code at hand computes: four, one in the first lane, or one in all lanes. */
type Mode = 'four' | 'one' | 'row';

/** The module of a loop: `run` takes the address of the numbers of a run (`runNumbers`). */
export function writeLoop(spec: LoopSpec, sharedMemory: boolean): Uint8Array<ArrayBuffer> {
  const w = new FunctionWriter();
  const number = (n: number): Local => {
    const local = w.local('i32');
    w.get(w.parameter);
    w.memory('i32Load', 4 * n);
    w.set(local);
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
  const values: Value[] = nodes.map(node => ({ local: w.local('v128'), type: typeOf(node) }));
  const varying = variation(spec);

  function typeOf([, type]: FlatNode): ExprType {
    return type as ExprType;
  }

  function writeNode(n: number, mode: Mode): void {
    const [kind, type, detail, ...operands] = nodes[n];
    if (kind === 'constant') {
      w.splat(type === 'f32' ? floatBytes(Number(detail)) : wordBytes(constantWord(type, Number(detail))));
    } else if (kind === 'select') {
      const [condition, whenTrue, whenFalse] = operands.map(at => values[at].local);
      for (const local of [whenTrue, whenFalse, condition]) w.get(local);
      w.vector('bitselect');
    } else if (kind === 'load') writeLoad(n, String(detail), operands, mode);
    else if (detail === 'pow' && isSimplePower(constantAt(operands[1]))) {
      writePower(w, values[operands[0]].local, constantAt(operands[1]));
    } else
      writeOperator(
        w,
        detail as UnaryOp | BinaryOp,
        operands.map(at => values[at]),
      );
    w.set(values[n].local);
  }

  /** The value of a constant; NaN for any other node. */
  function constantAt(n: number): number {
    return nodes[n][0] === 'constant' ? Number(nodes[n][2]) : Number.NaN;
  }

  function writeLoad(n: number, name: string, index: readonly number[], mode: Mode): void {
    if (name === 'coordinate') {
      const d = Number(nodes[index[0]][2]);
      if (d === spec.rank - 1) w.get(inner);
      else {
        w.get(places[d]);
        w.vector('i32x4Splat');
      }
      return;
    }
    const { type } = values[n];
    if (index.length > 0) {
      const t = spec.tables.findIndex(table => table.name === name);
      loadFromTable(spec.tables[t], tables[t], index, mode === 'four' ? 4 : 1);
      decode(w, spec.tables[t].format);
      convert(w, typeOfFormat(spec.tables[t].format), type);
      return;
    }
    const s = spec.streams.findIndex(stream => stream.name === name);
    const { format, step } = spec.streams[s];
    const { at } = streams[s];
    if (mode === 'four' && step === 'next') loadFour(w, format, at);
    else if (mode === 'four' && step === 'far') {
      loadLanes(format, lane => {
        w.get(at, streams[s].step);
        w.i32(lane);
        w.scalar('i32Mul');
        w.scalar('i32Add');
      });
    } else {
      w.get(at);
      loadOne(w, format);
    }
    decode(w, format);
    convert(w, typeOfFormat(format), type);
  }

  /** Loads four elements whose addresses are written one by one, as codes. */
  function loadLanes(format: Table['format'], address: (lane: number) => void): void {
    address(0);
    loadCode(w, format);
    w.vector('i32x4Splat');
    for (let lane = 1; lane < 4; lane++) {
      address(lane);
      loadCode(w, format);
      w.vector('i32x4ReplaceLane', lane);
    }
  }

  function loadFromTable(
    { format, shape, strides }: Table,
    base: Local,
    index: readonly number[],
    lanes: 1 | 4,
  ): void {
    const bytes = formatBytes[format];
    const offsets = w.local('v128');
    w.splat(wordBytes(0));
    index.forEach((at, d) => {
      w.get(values[at].local);
      w.splat(wordBytes(shape[d] - 1));
      w.vector('i32x4MinS');
      w.splat(wordBytes(0));
      w.vector('i32x4MaxS');
      w.splat(wordBytes(strides[d] * bytes));
      w.vector('i32x4Mul');
      w.vector('i32x4Add');
    });
    w.set(offsets);
    const address = (lane: number): void => {
      w.get(base, offsets);
      w.vector('i32x4ExtractLane', lane);
      w.scalar('i32Add');
    };
    if (lanes === 4) loadLanes(format, address);
    else {
      address(0);
      loadOne(w, format);
    }
  }

  /** Computes as many elements, and moves on behind them. */
  function writeElements(mode: 'four' | 'one'): void {
    const size = mode === 'four' ? 4 : 1;
    for (const [n, level] of varying.entries()) if (level === 'element') writeNode(n, mode);
    sink.element(mode, values[values.length - 1]);
    spec.streams.forEach(({ step }, s) => {
      if (step !== 'none') advance(streams[s], size);
    });
    if (spec.output.step !== 'none') advance(output, size);
    w.get(inner);
    w.splat(wordBytes(size));
    w.vector('i32x4Add');
    w.set(inner);
  }

  function advance({ at, step }: Pointer, count: number): void {
    w.get(step);
    if (count > 1) {
      w.i32(count);
      w.scalar('i32Mul');
    }
    w.increase(at);
  }

  function nextRow(): void {
    for (const { start, row } of [output, ...streams]) {
      w.get(row);
      w.increase(start);
    }
    if (spec.rank > 1) {
      w.i32(1);
      w.increase(places[spec.rank - 2]);
    }
  }

  for (const [n, level] of varying.entries()) if (level === 'never') writeNode(n, 'row');
  w.countDown(rows, () => {
    for (const { at, start } of [output, ...streams]) {
      w.get(start);
      w.set(at);
    }
    w.vector('const', ...[0, 1, 2, 3].flatMap(lane => [...wordBytes(lane)]));
    w.set(inner);
    for (const [n, level] of varying.entries()) if (level === 'row') writeNode(n, 'row');
    sink.start();
    w.get(count);
    w.i32(2);
    w.scalar('i32ShrU');
    w.set(left);
    w.countDown(left, () => writeElements('four'));
    sink.afterFours();
    w.get(count);
    w.i32(3);
    w.scalar('i32And');
    w.set(left);
    w.countDown(left, () => writeElements('one'));
    sink.end();
    nextRow();
  });
  return w.module(sharedMemory);
}

/** How often a node has another value: never, from row to row, or from element to element. */
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

function constantWord(type: string, value: number): number {
  return type === 'bool' ? (value === 0 ? 0 : -1) : value;
}
