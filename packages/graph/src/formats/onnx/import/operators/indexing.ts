import { int64Type } from '../element-type.ts';
import type { NodeCall, NodeResult, OnnxOperator } from '../node-call.ts';
import { type HostTensor, hostTensor, reader, staticNumbers, type Value } from '../value.ts';
import { cast, reshape, select, slice } from './emit.ts';

/** A result whose element at an index is the element of one input at another index. */
function moved(
  { type, host, shape: from }: Value,
  shape: readonly number[],
  place: (index: readonly number[]) => readonly number[],
  emit: NodeResult['emit'],
): NodeResult {
  return {
    ...{ type, shape, emit },
    ...(host && {
      fold: (): HostTensor => {
        const read = reader(host(), from);
        return hostTensor(shape, index => read(place(index)));
      },
    }),
  };
}

const withExtent = (shape: readonly number[], axis: number, extent: number): number[] =>
  shape.map((n, d) => (d === axis ? extent : n));

/** Where a slice along one axis begins, its step, and how many elements it has. */
function sliceRange(
  extent: number,
  start: number,
  end: number,
  step: number,
): { start: number; size: number } {
  const clamp = (n: number, low: number, high: number): number =>
    Math.min(high, Math.max(low, n < 0 ? n + extent : n));
  if (step > 0) {
    const first = clamp(start, 0, extent);
    return { start: first, size: Math.max(0, Math.ceil((clamp(end, 0, extent) - first) / step)) };
  }
  const first = clamp(start, 0, extent - 1);
  return { start: first, size: Math.max(0, Math.ceil((clamp(end, -1, extent - 1) - first) / step)) };
}

const sliceOperator: OnnxOperator = call => {
  const value = call.input(0);
  const list = (n: number, name: string): number[] | null => {
    if (call.version < 10) return call.ints(name) ? [...(call.ints(name) ?? [])] : null;
    return call.has(n) ? call.numbers(n) : null;
  };
  const starts = list(1, 'starts') ?? call.fail('needs starts');
  const ends = list(2, 'ends') ?? call.fail('needs ends');
  const axes = (list(3, 'axes') ?? starts.map((_, d) => d)).map(d => call.axis(d, value.shape.length));
  const steps = list(4, 'steps') ?? starts.map(() => 1);
  if ([ends, axes, steps].some(({ length }) => length !== starts.length))
    call.fail(
      `has ${starts.length} starts, ${ends.length} ends, ${axes.length} axes and ${steps.length} steps`,
    );
  const cuts = axes.map((axis, n) => {
    const step = steps[n] ?? 1;
    if (step === 0) call.fail('has a step of 0');
    return { axis, step, ...sliceRange(value.shape[axis] ?? 0, starts[n] ?? 0, ends[n] ?? 0, step) };
  });
  const shape = cuts.reduce<readonly number[]>((s, { axis, size }) => withExtent(s, axis, size), value.shape);
  const place = (index: readonly number[]): number[] =>
    index.map((i, d) => {
      const cut = cuts.find(({ axis }) => axis === d);
      return cut ? cut.start + i * cut.step : i;
    });
  return [
    moved(value, shape, place, () =>
      cuts.reduce((tensor, cut) => slice(call.draft, tensor, cut), value.tensor()),
    ),
  ];
};

/** Indices counted from the start, checked where they are known. */
function checkedIndices(call: NodeCall, n: number, extent: number): void {
  const wrong = staticNumbers(call.input(n))?.find(i => i < -extent || i >= extent);
  if (wrong !== undefined) call.fail(`reads index ${wrong} of ${extent} elements`);
}

/**
 * Negative indices count from the end of an axis: known ones are added to the extent, others are when the
 * graph runs.
 */
function fromStart(call: NodeCall, value: Value, extent: number) {
  const indices = value.tensor();
  if (staticNumbers(value)?.every(i => i >= 0)) return indices;
  const { draft } = call;
  const zero = draft.op('Constant', [], { value: [0] }, 'i32');
  const end = draft.op('Constant', [], { value: [extent] }, 'i32');
  const isNegative = draft.op('Less', [indices, zero], {}, 'bool');
  return select(draft, isNegative, draft.op('Add', [indices, end]), indices);
}

const gather: OnnxOperator = call => {
  const [value, at] = [call.input(0), call.input(1)];
  const axis = call.axis(call.int('axis', 0), value.shape.length);
  const extent = value.shape[axis] ?? 0;
  checkedIndices(call, 1, extent);
  const shape = [...value.shape.slice(0, axis), ...at.shape, ...value.shape.slice(axis + 1)];
  const rank = at.shape.length;
  const { type, host } = value;
  const emit: NodeResult['emit'] = () => {
    // One known index, or several that follow each other, are a slice.
    const indices = staticNumbers(at)?.map(i => (i < 0 ? i + extent : i));
    if (indices && indices.length > 0 && indices.every((i, n) => i === (indices[0] ?? 0) + n)) {
      const part = slice(call.draft, value.tensor(), { axis, start: indices[0] ?? 0, size: indices.length });
      return reshape(call.draft, part, shape);
    }
    return call.draft.op('Take', [value.tensor(), at.tensor()], { axis });
  };
  return [
    {
      ...{ type, shape, emit },
      ...(host &&
        at.host && {
          fold: () => {
            const indices = reader(at.host?.() ?? { shape: [], values: [] }, at.shape);
            const read = reader(host(), value.shape);
            return hostTensor(shape, index => {
              const i = indices(index.slice(axis, axis + rank));
              return read([...index.slice(0, axis), i < 0 ? i + extent : i, ...index.slice(axis + rank)]);
            });
          },
        }),
    },
  ];
};

const gatherElements: OnnxOperator = call => {
  const [{ type, shape, tensor }, at] = [call.input(0), call.input(1)];
  const axis = call.axis(call.int('axis', 0), shape.length);
  const extent = shape[axis] ?? 0;
  checkedIndices(call, 1, extent);
  return [
    {
      ...{ type, shape: at.shape },
      emit: () => call.draft.op('GatherElements', [tensor(), fromStart(call, at, extent)], { axis }),
    },
  ];
};

const scatterElements: OnnxOperator = call => {
  const [{ type, shape, tensor }, at, updates] = [call.input(0), call.input(1), call.input(2)];
  const axis = call.axis(call.int('axis', 0), shape.length);
  const extent = shape[axis] ?? 0;
  const reduction = call.text('reduction', 'none');
  if (reduction !== 'none' && reduction !== 'add') call.refuse(`has the reduction '${reduction}'`);
  checkedIndices(call, 1, extent);
  return [
    {
      ...{ type, shape },
      emit: () => {
        const operands = [tensor(), fromStart(call, at, extent), updates.tensor()];
        return call.draft.op('ScatterElements', operands, { axis, reduction });
      },
    },
  ];
};

const concat: OnnxOperator = call => {
  const values = call.inputs.flatMap(value => value ?? []);
  const [first] = values;
  if (!first) return call.fail('needs an input');
  const axis = call.axis(call.int('axis', call.version < 4 ? 1 : 0), first.shape.length);
  for (const { shape } of values) {
    const fits =
      shape.length === first.shape.length && shape.every((n, d) => d === axis || n === first.shape[d]);
    if (!fits) call.fail(`cannot join [${first.shape}] and [${shape}] along axis ${axis}`);
  }
  const shape = withExtent(
    first.shape,
    axis,
    values.reduce((n, value) => n + (value.shape[axis] ?? 0), 0),
  );
  const hosts = values.map(({ host }) => host);
  const isKnown = hosts.every(host => host !== null);
  return [
    {
      ...{ type: first.type, shape },
      ...(isKnown && {
        fold: () => {
          const reads = values.map(({ host, shape: own }) => ({
            extent: own[axis] ?? 0,
            read: reader(host?.() ?? { shape: [], values: [] }, own),
          }));
          return hostTensor(shape, index => {
            let at = index[axis] ?? 0;
            for (const { extent, read } of reads) {
              if (at < extent) return read(index.map((i, d) => (d === axis ? at : i)));
              at -= extent;
            }
            return Number.NaN;
          });
        },
      }),
      emit: () => {
        const parts = values.filter(value => value.shape[axis] !== 0).map(({ tensor }) => tensor());
        const [only] = parts;
        return parts.length === 1 && only ? only : call.draft.op('Concat', parts, { axis });
      },
    },
  ];
};

const split: OnnxOperator = call => {
  const value = call.input(0);
  const axis = call.axis(call.int('axis', 0), value.shape.length);
  const extent = value.shape[axis] ?? 0;
  const count = call.node.outputs.length;
  const each = Math.ceil(extent / call.int('num_outputs', count));
  const attribute = call.ints('split');
  const sizes = call.has(1)
    ? call.numbers(1)
    : (attribute ?? Array.from({ length: count }, (_, n) => Math.max(0, Math.min(each, extent - n * each))));
  if (sizes.length !== count || sizes.reduce((a, b) => a + b, 0) !== extent)
    call.fail(`cannot divide ${extent} elements into [${sizes}] for ${count} outputs`);
  let start = 0;
  return sizes.map(size => {
    const first = start;
    start += size;
    const place = (index: readonly number[]): number[] => index.map((i, d) => (d === axis ? i + first : i));
    return moved(value, withExtent(value.shape, axis, size), place, () =>
      slice(call.draft, value.tensor(), { axis, start: first, size }),
    );
  });
};

const pad: OnnxOperator = call => {
  const value = call.input(0);
  const mode = call.text('mode', 'constant');
  if (mode !== 'constant') call.refuse(`has the mode '${mode}'; only 'constant' is read`);
  const { shape } = value;
  const axes = call.has(3) ? call.numbers(3).map(d => call.axis(d, shape.length)) : shape.map((_, d) => d);
  const given = call.version < 11 ? (call.ints('pads') ?? []) : call.numbers(1);
  if (given.length !== 2 * axes.length) call.fail(`has ${given.length} pads for ${axes.length} axes`);
  const count = (d: number, side: 0 | 1): number => {
    const n = axes.indexOf(d);
    return n < 0 ? 0 : (given[n + side * axes.length] ?? 0);
  };
  const [before, after] = [shape.map((_, d) => count(d, 0)), shape.map((_, d) => count(d, 1))];
  const fill = call.version < 11 ? call.float('value', 0) : call.has(2) ? (call.numbers(2)[0] ?? 0) : 0;
  const { draft } = call;
  return [
    {
      ...{ type: value.type, shape: shape.map((n, d) => n + (before[d] ?? 0) + (after[d] ?? 0)) },
      emit: () => {
        // Negative pads take elements away.
        const cut = shape.reduce((tensor, extent, axis) => {
          const [low, high] = [Math.max(0, -(before[axis] ?? 0)), Math.max(0, -(after[axis] ?? 0))];
          return slice(draft, tensor, { axis, start: low, size: extent - low - high });
        }, value.tensor());
        const grown = { before: before.map(n => Math.max(0, n)), after: after.map(n => Math.max(0, n)) };
        if ([...grown.before, ...grown.after].every(n => n === 0)) return cut;
        return draft.op('Pad', [cut], { ...grown, value: fill });
      },
    },
  ];
};

const tile: OnnxOperator = call => {
  const value = call.input(0);
  const repeats = call.numbers(1);
  const shape = value.shape.map((n, d) => n * (repeats[d] ?? 1));
  const place = (index: readonly number[]): number[] => index.map((i, d) => i % (value.shape[d] || 1));
  return [
    moved(value, shape, place, () =>
      value.shape.reduce((tensor, _, axis) => {
        const times = repeats[axis] ?? 1;
        return times === 1 ? tensor : call.draft.op('Concat', new Array(times).fill(tensor), { axis });
      }, value.tensor()),
    ),
  ];
};

const argMax: OnnxOperator = call => {
  const { shape, tensor } = call.input(0);
  const axis = call.axis(call.int('axis', 0), shape.length);
  const keeps = call.flag('keepdims', true);
  const last = call.flag('select_last_index', false);
  const extent = shape[axis] ?? 0;
  const { draft } = call;
  return [
    {
      type: int64Type,
      shape: keeps ? withExtent(shape, axis, 1) : shape.filter((_, d) => d !== axis),
      emit: () => {
        if (!last) return draft.op('ArgMax', [tensor()], { axis, keep_dims: keeps }, 'i32');
        // The last of equal ones is the first from the end.
        const reversed = slice(draft, tensor(), { axis, start: extent - 1, size: extent, step: -1 });
        const fromEnd = draft.op('ArgMax', [reversed], { axis, keep_dims: keeps }, 'i32');
        const end = draft.op('Constant', [], { value: [extent - 1] }, 'i32');
        return draft.op('Subtract', [end, fromEnd]);
      },
    },
  ];
};

const topK: OnnxOperator = call => {
  const { type, shape, tensor } = call.input(0);
  const axis = call.axis(call.int('axis', -1), shape.length);
  const k = call.version < 10 ? call.int('k', 1) : (call.numbers(1)[0] ?? 1);
  const largest = call.flag('largest', true);
  const { draft } = call;
  let made: readonly [values: ReturnType<typeof tensor>, indices: ReturnType<typeof tensor>] | undefined;
  const results = (): NonNullable<typeof made> => {
    if (made) return made;
    const own = tensor();
    // Integers go by f32, which is exact up to 2^24.
    const numbers = ['i32', 'u32'].includes(own.dtype) ? cast(draft, own, 'f32') : own;
    const x = largest ? numbers : draft.op('Neg', [numbers]);
    const [values = x, indices = x] = draft.ops('TopK', [x], { axis, k }, [x.dtype, 'i32']);
    made = [cast(draft, largest ? values : draft.op('Neg', [values]), own.dtype), indices];
    return made;
  };
  const to = withExtent(shape, axis, k);
  return [
    { type, shape: to, emit: () => results()[0] },
    { type: int64Type, shape: to, emit: () => results()[1] },
  ];
};

const cumSum: OnnxOperator = call => {
  const { type, shape, tensor, host } = call.input(0);
  const axis = call.axis(call.numbers(1)[0] ?? 0, shape.length);
  const exclusive = call.flag('exclusive', false);
  const reverse = call.flag('reverse', false);
  return [
    {
      ...{ type, shape },
      ...(host && {
        fold: () => {
          const read = reader(host(), shape);
          const extent = shape[axis] ?? 0;
          return hostTensor(shape, index => {
            const own = index[axis] ?? 0;
            const [from, to] = reverse ? [own + (exclusive ? 1 : 0), extent] : [0, own + (exclusive ? 0 : 1)];
            let sum = 0;
            for (let i = from; i < to; i++) sum += read(index.map((n, d) => (d === axis ? i : n)));
            return sum;
          });
        },
      }),
      emit: () => {
        const x = tensor();
        const isInteger = x.dtype === 'i32';
        const sum = call.draft.op('CumSum', [isInteger ? cast(call.draft, x, 'f32') : x], {
          axis,
          exclusive,
          reverse,
        });
        return isInteger ? cast(call.draft, sum, 'i32') : sum;
      },
    },
  ];
};

/** Updates at places of a tensor; each place is an index of its first dimensions. */
const scatterND: OnnxOperator = call => {
  const [data, at, updates] = [call.input(0), call.input(1), call.input(2)];
  const reduction = call.text('reduction', 'none');
  const { shape, type } = data;
  const depth = at.shape.at(-1) ?? 0;
  const inner = shape.slice(depth).reduce((n, extent) => n * extent, 1);
  const places = at.shape.slice(0, -1).reduce((n, extent) => n * extent, 1);
  const outer = shape.slice(0, depth);
  if (depth > shape.length) call.fail(`has indices of ${depth} dimensions for a tensor of ${shape.length}`);
  const { draft } = call;
  return [
    {
      ...{ type, shape },
      emit: () => {
        const numbers = call.numbers(1);
        const rows = Array.from({ length: places }, (_, n) =>
          outer.reduce((row, extent, d) => {
            const i = numbers[n * depth + d] ?? 0;
            if (i < -extent || i >= extent) call.fail(`writes index ${i} of ${extent} elements`);
            return row * extent + (i < 0 ? i + extent : i);
          }, 0),
        );
        const count = outer.reduce((n, extent) => n * extent, 1);
        const flat = reshape(draft, data.tensor(), [count, inner]);
        const parts = reshape(draft, updates.tensor(), [places, inner]);
        const written = rows.reduce((tensor, row, n) => {
          const update = slice(draft, parts, { axis: 0, start: n, size: 1 });
          const old = slice(draft, tensor, { axis: 0, start: row, size: 1 });
          const pieces = [
            ...(row > 0 ? [slice(draft, tensor, { axis: 0, start: 0, size: row })] : []),
            reduction === 'none' ? update : draft.op(reductionKind(call, reduction), [old, update]),
            ...(row + 1 < count
              ? [slice(draft, tensor, { axis: 0, start: row + 1, size: count - row - 1 })]
              : []),
          ];
          return pieces.length === 1 && pieces[0] ? pieces[0] : draft.op('Concat', pieces, { axis: 0 });
        }, flat);
        return reshape(draft, written, shape);
      },
    },
  ];
};

function reductionKind(call: NodeCall, reduction: string): string {
  const kinds: Readonly<Record<string, string>> = {
    add: 'Add',
    mul: 'Multiply',
    max: 'Maximum',
    min: 'Minimum',
  };
  return kinds[reduction] ?? call.refuse(`has the reduction '${reduction}'`);
}

/**
 * New positions written into a cache along its sequence axis, each batch entry from its own first position
 * on.
 */
const tensorScatter: OnnxOperator = call => {
  const [past, update] = [call.input(0), call.input(1)];
  const { shape, type } = past;
  const axis = call.axis(call.int('axis', -2), shape.length);
  const mode = call.text('mode', 'linear');
  const [extent, count, batch] = [shape[axis] ?? 0, update.shape[axis] ?? 0, shape[0] ?? 1];
  const { draft } = call;
  return [
    {
      ...{ type, shape },
      emit: () => {
        const firsts = call.has(2) ? call.numbers(2) : new Array<number>(batch).fill(0);
        const entries = firsts.map((first, b) => {
          const own = slice(draft, past.tensor(), { axis: 0, start: b, size: 1 });
          const added = slice(draft, update.tensor(), { axis: 0, start: b, size: 1 });
          if (mode === 'linear' && first + count > extent)
            call.fail(
              `writes ${count} positions from ${first} of ${extent}; the mode 'circular' would begin anew`,
            );
          // From the last position on, a circular cache begins anew.
          const parts = Array.from({ length: extent }, (_, s) => {
            const n = (s - first + extent) % extent;
            return n < count ? { tensor: added, start: n } : { tensor: own, start: s };
          });
          return draft.op(
            'Concat',
            runs(parts).map(run => slice(draft, run.tensor, { axis, ...run })),
            { axis },
          );
        });
        return entries.length === 1 && entries[0] ? entries[0] : draft.op('Concat', entries, { axis: 0 });
      },
    },
  ];
};

/** Neighbours of one tensor that follow each other, as one part of it. */
function runs<T>(
  parts: readonly { tensor: T; start: number }[],
): { tensor: T; start: number; size: number }[] {
  const all: { tensor: T; start: number; size: number }[] = [];
  for (const { tensor, start } of parts) {
    const last = all.at(-1);
    if (last && last.tensor === tensor && last.start + last.size === start) last.size += 1;
    else all.push({ tensor, start, size: 1 });
  }
  return all;
}

/** Operators that move elements: they choose, join and scatter. */
export const indexingOperators: Readonly<Record<string, OnnxOperator>> = {
  ArgMax: argMax,
  Concat: concat,
  CumSum: cumSum,
  Gather: gather,
  GatherElements: gatherElements,
  Pad: pad,
  ScatterElements: scatterElements,
  ScatterND: scatterND,
  Slice: sliceOperator,
  Split: split,
  TensorScatter: tensorScatter,
  Tile: tile,
  TopK: topK,
};
