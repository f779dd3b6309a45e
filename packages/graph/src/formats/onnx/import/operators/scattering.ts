import type { NodeCall, OnnxOperator } from '../node-call.ts';
import { reshape, slice } from './emit.ts';
import { checkedIndices, fromStart } from './indices.ts';

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

/** Operators that write elements into a tensor. */
export const scatteringOperators: Readonly<Record<string, OnnxOperator>> = {
  ScatterElements: scatterElements,
  ScatterND: scatterND,
  TensorScatter: tensorScatter,
};
