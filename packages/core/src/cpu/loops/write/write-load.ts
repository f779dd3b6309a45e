import { decode, type Format, formatBytes, loadCode, loadFour, loadOne } from '../format.ts';
import type { LoopSpec, Stream, Table } from '../loop-spec.ts';
import type { FunctionWriter, Local } from '../wasm/function-writer.ts';
import type { LoopLocals, Pointer } from './loop-locals.ts';

/** How many elements the current code computes: four, one in the first lane, or one in all lanes. */
export type Mode = 'four' | 'one' | 'row';

/** Leaves the value of node `n`, which is a load, on the stack. */
export function writeLoad(
  w: FunctionWriter,
  { nodes, streams, tables, rank }: LoopSpec,
  locals: LoopLocals,
  n: number,
  mode: Mode,
): void {
  const [, , name, ...index] = nodes[n];
  if (name === 'coordinate') {
    const d = Number(nodes[index[0]][2]);
    if (d === rank - 1) w.get(locals.inner);
    else w.get(locals.coordinates[d]).vector('i32x4Splat');
    return;
  }
  const { type } = locals.values[n];
  if (index.length === 0) {
    const s = streams.findIndex(stream => stream.name === name);
    loadFromStream(w, streams[s], locals.streams[s], mode);
    decode(w, streams[s].format, type);
  } else {
    const t = tables.findIndex(table => table.name === name);
    const indices = index.map(at => locals.values[at].local);
    loadFromTable(w, tables[t], locals.tables[t], indices, mode);
    decode(w, tables[t].format, type);
  }
}

/** Loads elements of a stream as codes. */
function loadFromStream(
  w: FunctionWriter,
  { format, step }: Stream,
  { at, step: bytes }: Pointer,
  mode: Mode,
): void {
  if (mode === 'four' && step === 'next') loadFour(w, format, at);
  else if (mode === 'four' && step === 'far')
    loadLanes(w, format, lane => w.get(at, bytes).i32(lane).scalar('i32Mul').scalar('i32Add'));
  else loadOne(w.get(at), format);
}

/** Loads elements of a table as codes, from indices in locals, which are clamped to its shape. */
function loadFromTable(
  w: FunctionWriter,
  { format, shape, strides }: Table,
  base: Local,
  indices: readonly Local[],
  mode: Mode,
): void {
  const bytes = formatBytes[format];
  const offsets = w.local('v128');
  w.words(0);
  indices.forEach((index, d) => {
    w.get(index)
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
  if (mode === 'four') loadLanes(w, format, address);
  else loadOne(address(0), format);
}

/** Loads four elements as codes, from addresses that `address` leaves on the stack one by one. */
function loadLanes(w: FunctionWriter, format: Format, address: (lane: number) => void): void {
  address(0);
  loadCode(w, format).vector('i32x4Splat');
  for (let lane = 1; lane < 4; lane++) {
    address(lane);
    loadCode(w, format).vector('i32x4ReplaceLane', lane);
  }
}
