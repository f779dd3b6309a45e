import { convert, encode, formatBytes, storeFour, storeLane } from '../format.ts';
import type { Output } from '../loop-spec.ts';
import type { FunctionWriter, Local } from '../wasm/function-writer.ts';
import type { Pointer } from './loop-locals.ts';
import type { Value } from './operators.ts';

/** The last stage of a loop: stores the elements, or reduces them. */
export interface Sink {
  /** Writes the code for the start of a row. */
  start?(): void;
  /** Takes four elements, or the one in the first lane. */
  element(mode: 'four' | 'one', value: Value): void;
  /** Writes the code between the groups of four and the last elements. */
  afterFours?(): void;
  /** Writes the code for the end of a row. */
  end?(): void;
}

export function createSink(w: FunctionWriter, output: Output, pointer: Pointer): Sink {
  if (output.kind === 'store') return stored(w, output, pointer);
  if (output.kind === 'sum') return output.step === 'none' ? rowSum(w, pointer) : columnSums(w, pointer);
  const ops = output.kind === 'max' ? maximum : minimum;
  return output.step === 'none' ? rowExtremum(w, ops, pointer) : columnExtrema(w, ops, pointer);
}

/** Stores a value in a local, as f32. */
function setFloats(w: FunctionWriter, { local, type }: Value, x: Local): void {
  w.get(local);
  convert(w, type, 'f32');
  w.set(x);
}

/** Adds the first lane of a local to the f64 on the stack. */
function addFirst(w: FunctionWriter, x: Local): FunctionWriter {
  return w.get(x).vector('f32x4ExtractLane', 0).scalar('f64Promote').scalar('f64Add');
}

/** Converts half of an f32 vector to two f64. */
function promote(w: FunctionWriter, local: number, half: 'low' | 'high'): FunctionWriter {
  w.get(local);
  if (half === 'high')
    w.get(local).vector('shuffle', 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15);
  return w.vector('f64x2Promote');
}

function stored(w: FunctionWriter, { format, step }: Output, { at, step: bytes }: Pointer): Sink {
  const codes = w.local('v128');
  const to = w.local('i32');
  return {
    element(mode, { local, type }) {
      w.get(local);
      encode(w, type, format);
      w.set(codes);
      if (mode === 'one') storeLane(w, format, at, codes, 0);
      else if (step === 'next') storeFour(w, format, at, codes);
      else {
        w.get(at).set(to);
        for (let lane = 0; lane < 4; lane++) {
          storeLane(w, format, to, codes, lane);
          w.get(bytes).increase(to);
        }
      }
    },
  };
}

/** One f64 sum per row: over every second pair of lanes, then over both, then over the remaining elements. */
function rowSum(w: FunctionWriter, { at }: Pointer): Sink {
  const [low, high] = [w.local('v128'), w.local('v128')];
  const total = w.local('f64');
  const x = w.local('v128');
  return {
    start() {
      w.words(0).set(low).words(0).set(high);
    },
    element(mode, value) {
      setFloats(w, value, x);
      if (mode === 'one') addFirst(w.get(total), x).set(total);
      else {
        promote(w.get(low), x, 'low').vector('f64x2Add').set(low);
        promote(w.get(high), x, 'high').vector('f64x2Add').set(high);
      }
    },
    afterFours() {
      w.get(low, high).vector('f64x2Add').set(x);
      for (const lane of [0, 1]) w.get(x).vector('f64x2ExtractLane', lane);
      w.scalar('f64Add').set(total);
    },
    end() {
      w.get(at, at).memory('f64Load').get(total).scalar('f64Add').memory('f64Store');
    },
  };
}

/** One f64 sum per element of a row, accumulated from row to row. */
function columnSums(w: FunctionWriter, { at }: Pointer): Sink {
  const x = w.local('v128');
  return {
    element(mode, value) {
      setFloats(w, value, x);
      if (mode === 'one') {
        addFirst(w.get(at, at).memory('f64Load'), x).memory('f64Store');
        return;
      }
      for (const half of ['low', 'high'] as const) {
        const offset = half === 'low' ? 0 : 2 * formatBytes.f64;
        promote(w.get(at, at).vectorMemory('load', offset), x, half);
        w.vector('f64x2Add').vectorMemory('store', offset);
      }
    },
  };
}

interface Extremum {
  readonly start: number;
  readonly scalar: 'f32Max' | 'f32Min';
  readonly vector: 'f32x4Max' | 'f32x4Min';
}

const maximum: Extremum = { start: -Infinity, scalar: 'f32Max', vector: 'f32x4Max' };
const minimum: Extremum = { start: Infinity, scalar: 'f32Min', vector: 'f32x4Min' };

function rowExtremum(w: FunctionWriter, op: Extremum, { at }: Pointer): Sink {
  const best = w.local('v128');
  return {
    start() {
      w.floats(op.start).set(best);
    },
    element(mode, { local, type }) {
      w.get(local);
      convert(w, type, 'f32');
      if (mode === 'one') w.vector('f32x4ExtractLane', 0).vector('f32x4Splat');
      w.get(best).vector(op.vector).set(best);
    },
    end() {
      w.get(at, at).memory('f32Load');
      for (let lane = 0; lane < 4; lane++) w.get(best).vector('f32x4ExtractLane', lane).scalar(op.scalar);
      w.memory('f32Store');
    },
  };
}

function columnExtrema(w: FunctionWriter, op: Extremum, { at }: Pointer): Sink {
  const x = w.local('v128');
  return {
    element(mode, value) {
      setFloats(w, value, x);
      w.get(at, at);
      if (mode === 'four') w.vectorMemory('load').get(x).vector(op.vector).vectorMemory('store');
      else {
        w.memory('f32Load').get(x).vector('f32x4ExtractLane', 0);
        w.scalar(op.scalar).memory('f32Store');
      }
    },
  };
}
