import { withExtent } from '../../../../../ir/tensor/shape.ts';
import { int64Type } from '../../file/element-type.ts';
import { type NodeResult, type OnnxOperator, result } from '../../node-call.ts';
import { folded, hostTensor, staticNumbers } from '../../value.ts';
import { gatherND } from './gather-nd.ts';
import { checkedIndices, fromStart } from './indices.ts';
import { moved } from './moved.ts';
import { pad } from './pad.ts';

/** The start, step and number of elements of a slice along one axis. */
function sliceRange(extent: number, start: number, end: number, step: number) {
  const [low, high] = step > 0 ? [0, extent] : [-1, extent - 1];
  const clamp = (n: number, least: number): number => Math.min(high, Math.max(least, n < 0 ? n + extent : n));
  const first = clamp(start, 0);
  return { start: Math.max(0, first), size: Math.max(0, Math.ceil((clamp(end, low) - first) / step)) };
}

const sliceOperator: OnnxOperator = call => {
  const value = call.input(0);
  const list = (n: number, name: string): readonly number[] | undefined => {
    if (call.version < 10) return call.ints(name);
    return call.has(n) ? call.numbers(n) : undefined;
  };
  const starts = list(1, 'starts') ?? call.fail('needs starts');
  const ends = list(2, 'ends') ?? call.fail('needs ends');
  const axes = (list(3, 'axes') ?? starts.map((_, d) => d)).map(d => call.axis(d, value.shape.length));
  const steps = list(4, 'steps') ?? starts.map(() => 1);
  if ([ends, axes, steps].some(({ length }) => length !== starts.length))
    call.fail('needs as many ends, axes and steps as starts');
  const cuts = axes.map((axis, n) => {
    const step = steps[n];
    if (step === 0) call.fail('has a step of 0');
    return { axis, step, ...sliceRange(value.shape[axis], starts[n], ends[n], step) };
  });
  const shape = cuts.reduce<readonly number[]>((s, { axis, size }) => withExtent(s, axis, size), value.shape);
  const place = (index: readonly number[]): number[] =>
    index.map((i, d) => {
      const cut = cuts.find(({ axis }) => axis === d);
      return cut ? cut.start + i * cut.step : i;
    });
  return moved(value, shape, place, () =>
    cuts.reduce((tensor, cut) => call.draft.slice(tensor, cut), value.tensor()),
  );
};

const gather: OnnxOperator = call => {
  const [value, at] = [call.input(0), call.input(1)];
  const axis = call.axis(call.int('axis', 0), value.shape.length);
  const extent = value.shape[axis];
  checkedIndices(call, extent);
  const shape = [...value.shape.slice(0, axis), ...at.shape, ...value.shape.slice(axis + 1)];
  const rank = at.shape.length;
  const emit: NodeResult['emit'] = () => {
    // A known index, or several consecutive ones, are a slice.
    const indices = staticNumbers(at)?.map(i => (i < 0 ? i + extent : i));
    if (indices && indices.length > 0 && indices.every((i, n) => i === indices[0] + n)) {
      const part = call.draft.slice(value.tensor(), { axis, start: indices[0], size: indices.length });
      return call.draft.reshape(part, shape);
    }
    return call.draft.op('Take', [value.tensor(), at.tensor()], { axis });
  };
  const fold = folded([value, at], shape, (read, indices) => index => {
    const i = indices(index.slice(axis, axis + rank));
    return read([...index.slice(0, axis), i < 0 ? i + extent : i, ...index.slice(axis + rank)]);
  });
  return { type: value.type, shape, emit, fold };
};

const gatherElements: OnnxOperator = call => {
  const [{ type, shape, tensor }, at] = [call.input(0), call.input(1)];
  const axis = call.axis(call.int('axis', 0), shape.length);
  const extent = shape[axis];
  checkedIndices(call, extent);
  return result({ type, shape: at.shape }, () =>
    call.draft.op('GatherElements', [tensor(), fromStart(call, at, extent)], { axis }),
  );
};

const concatOperator: OnnxOperator = call => {
  const values = call.inputs.flatMap(value => value ?? []);
  const [first] = values;
  if (!first) return call.fail('needs an input');
  const axis = call.axis(call.int('axis', call.version < 4 ? 1 : 0), first.shape.length);
  for (const { shape } of values) {
    const fits =
      shape.length === first.shape.length && shape.every((n, d) => d === axis || n === first.shape[d]);
    if (!fits) call.fail(`cannot join [${first.shape}] and [${shape}] along axis ${axis}`);
  }
  const extent = values.reduce((n, value) => n + value.shape[axis], 0);
  const shape = withExtent(first.shape, axis, extent);
  return {
    ...{ type: first.type, shape },
    fold: folded(values, shape, (...reads) => index => {
      let at = index[axis];
      let n = 0;
      while (at >= values[n].shape[axis]) at -= values[n++].shape[axis];
      return reads[n](index.map((i, d) => (d === axis ? at : i)));
    }),
    emit: () => {
      const parts = values.filter(value => value.shape[axis] !== 0).map(({ tensor }) => tensor());
      return parts.length > 0 ? call.draft.concat(parts, axis) : first.tensor();
    },
  };
};

const split: OnnxOperator = call => {
  const value = call.input(0);
  const axis = call.axis(call.int('axis', 0), value.shape.length);
  const extent = value.shape[axis];
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
      call.draft.slice(value.tensor(), { axis, start: first, size }),
    );
  });
};

/** The maximum number of times that Tile repeats a tensor along one axis. */
const maxRepeats = 1024;

const tile: OnnxOperator = call => {
  const value = call.input(0);
  // In the first version, Tile repeats along one axis.
  const [single = 1, axis = 0] = call.version < 6 ? [1, 2].map(n => call.numbers(n)[0] ?? 0) : [];
  const repeats = call.version < 6 ? value.shape.map((_, d) => (d === axis ? single : 1)) : call.numbers(1);
  if (repeats.length !== value.shape.length || repeats.some(n => !Number.isInteger(n) || n < 0))
    call.fail(`cannot repeat [${value.shape}] by [${repeats}]`);
  if (repeats.some(n => n < 1 || n > maxRepeats))
    call.refuse(`repeats by [${repeats}]; 1 to ${maxRepeats} times are supported`);
  const shape = value.shape.map((n, d) => n * repeats[d]);
  const place = (index: readonly number[]): number[] => index.map((i, d) => i % (value.shape[d] || 1));
  return moved(value, shape, place, () =>
    value.shape.reduce(
      (tensor, _, axis) => call.draft.concat(new Array(repeats[axis]).fill(tensor), axis),
      value.tensor(),
    ),
  );
};

/** 1 (or another number) at an index along a new axis, and 0 (or another number) elsewhere. */
const oneHot: OnnxOperator = call => {
  const [at, both] = [call.input(0), call.input(2)];
  const [depth = 0] = call.numbers(1);
  const rank = at.shape.length + 1;
  const axis = call.axis(call.int('axis', -1), rank);
  const shape = [...at.shape.slice(0, axis), depth, ...at.shape.slice(axis)];
  const { draft } = call;
  return result({ type: both.type, shape }, () => {
    const indices = fromStart(call, { ...at, tensor: () => draft.cast(at.tensor(), 'i32') }, depth);
    const column = draft.reshape(indices, withExtent(shape, axis, 1));
    const line = shape.map((_, d) => (d === axis ? depth : 1));
    const places = hostTensor(line, index => index[axis]);
    const own = call.constant(places, int64Type);
    const values = both.tensor();
    const [off, on] = [0, 1].map(n => draft.reshape(draft.slice(values, { axis: 0, start: n, size: 1 }), []));
    return draft.select(draft.test('Equal', column, own), on, off);
  });
};

/** Operators that choose elements or join tensors. */
export const selectingOperators: Readonly<Record<string, OnnxOperator>> = {
  Concat: concatOperator,
  Gather: gather,
  GatherElements: gatherElements,
  GatherND: gatherND,
  OneHot: oneHot,
  Pad: pad,
  Slice: sliceOperator,
  Split: split,
  Tile: tile,
};
