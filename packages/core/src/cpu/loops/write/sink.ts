import { convert, encode, floatBytes, formatBytes, storeFour, storeLane } from '../format.ts';
import type { Output } from '../loop-spec.ts';
import type { FunctionWriter, Local } from '../wasm/function-writer.ts';
import type { Value } from './operators.ts';

/** A stream of a row, in locals. */
export interface Pointer {
  /** The address of the next element. */
  readonly at: Local;
  /** The address of the first element of the row, and the bytes to the next element and row. */
  readonly start: Local;
  readonly step: Local;
  readonly row: Local;
}

/** The end of a loop: stores the elements, or reduces them. */
export interface Sink {
  /** At the start of a row. */
  start(): void;
  /** Takes four elements, or the one in the first lane. */
  element(mode: 'four' | 'one', value: Value): void;
  /** Between the elements in fours and the last ones. */
  afterFours(): void;
  /** At the end of a row. */
  end(): void;
}

export function createSink(w: FunctionWriter, output: Output, pointer: Pointer): Sink {
  if (output.kind === 'store') return stored(w, output, pointer);
  if (output.kind === 'sum') return output.step === 'none' ? rowSum(w, pointer) : columnSums(w, pointer);
  const ops = output.kind === 'max' ? maximum : minimum;
  return output.step === 'none' ? rowExtremum(w, ops, pointer) : columnExtrema(w, ops, pointer);
}

const nothing = (): void => {};

/** A sink that has work to do for elements alone. */
const perElement = (element: Sink['element']): Sink => ({
  ...{ start: nothing, afterFours: nothing, end: nothing },
  element,
});

/** Puts a value, as f32, in a local. */
function setFloats(w: FunctionWriter, { local, type }: Value, x: Local): void {
  w.get(local);
  convert(w, type, 'f32');
  w.set(x);
}

/** Adds the first lane of a local to the f64 on the stack. */
function addFirst(w: FunctionWriter, x: Local): void {
  w.get(x);
  w.vector('f32x4ExtractLane', 0);
  w.scalar('f64Promote');
  w.scalar('f64Add');
}

/** Moves half of a vector of f32 to two f64. */
function promote(w: FunctionWriter, local: number, half: 'low' | 'high'): void {
  w.get(local);
  if (half === 'high') {
    w.get(local);
    w.vector('shuffle', 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15);
  }
  w.vector('f64x2Promote');
}

function stored(w: FunctionWriter, { format, step }: Output, { at, step: bytes }: Pointer): Sink {
  const codes = w.local('v128');
  const to = w.local('i32');
  return perElement((mode, { local, type }) => {
    w.get(local);
    encode(w, type, format);
    w.set(codes);
    if (mode === 'one') storeLane(w, format, at, codes, 0);
    else if (step === 'next') storeFour(w, format, at, codes);
    else {
      w.get(at);
      w.set(to);
      for (let lane = 0; lane < 4; lane++) {
        storeLane(w, format, to, codes, lane);
        w.get(bytes);
        w.increase(to);
      }
    }
  });
}

/** One sum per row, in f64: of every second pair of lanes, then of both, then of what is left. */
function rowSum(w: FunctionWriter, { at }: Pointer): Sink {
  const halves = [w.local('v128'), w.local('v128')] as const;
  const total = w.local('f64');
  const x = w.local('v128');
  return {
    start() {
      for (const half of halves) {
        w.splat(new Uint8Array(4));
        w.set(half);
      }
    },
    element(mode, value) {
      setFloats(w, value, x);
      if (mode === 'one') {
        w.get(total);
        addFirst(w, x);
        w.set(total);
        return;
      }
      for (const [n, half] of halves.entries()) {
        w.get(half);
        promote(w, x, n === 0 ? 'low' : 'high');
        w.vector('f64x2Add');
        w.set(half);
      }
    },
    afterFours() {
      for (const half of halves) w.get(half);
      w.vector('f64x2Add');
      w.set(x);
      for (const lane of [0, 1]) {
        w.get(x);
        w.vector('f64x2ExtractLane', lane);
      }
      w.scalar('f64Add');
      w.set(total);
    },
    end() {
      w.get(at, at);
      w.memory('f64Load');
      w.get(total);
      w.scalar('f64Add');
      w.memory('f64Store');
    },
  };
}

/** A sum per element of a row, in f64, from row to row. */
function columnSums(w: FunctionWriter, { at }: Pointer): Sink {
  const x = w.local('v128');
  return perElement((mode, value) => {
    setFloats(w, value, x);
    if (mode === 'one') {
      w.get(at, at);
      w.memory('f64Load');
      addFirst(w, x);
      w.memory('f64Store');
      return;
    }
    for (const half of ['low', 'high'] as const) {
      const offset = half === 'low' ? 0 : 2 * formatBytes.f64;
      w.get(at, at);
      w.vectorMemory('load', offset);
      promote(w, x, half);
      w.vector('f64x2Add');
      w.vectorMemory('store', offset);
    }
  });
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
      w.splat(floatBytes(op.start));
      w.set(best);
    },
    afterFours: nothing,
    element(mode, { local, type }) {
      w.get(local);
      convert(w, type, 'f32');
      if (mode === 'one') {
        w.vector('f32x4ExtractLane', 0);
        w.vector('f32x4Splat');
      }
      w.get(best);
      w.vector(op.vector);
      w.set(best);
    },
    end() {
      w.get(at, at);
      w.memory('f32Load');
      for (let lane = 0; lane < 4; lane++) {
        w.get(best);
        w.vector('f32x4ExtractLane', lane);
        w.scalar(op.scalar);
      }
      w.memory('f32Store');
    },
  };
}

function columnExtrema(w: FunctionWriter, op: Extremum, { at }: Pointer): Sink {
  const x = w.local('v128');
  return perElement((mode, value) => {
    setFloats(w, value, x);
    w.get(at, at);
    if (mode === 'one') {
      w.memory('f32Load');
      w.get(x);
      w.vector('f32x4ExtractLane', 0);
      w.scalar(op.scalar);
      w.memory('f32Store');
    } else {
      w.vectorMemory('load');
      w.get(x);
      w.vector(op.vector);
      w.vectorMemory('store');
    }
  });
}
