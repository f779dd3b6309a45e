import { elementCount } from '@tilewise/core';
import { int64Type } from '../../file/element-type.ts';
import type { OnnxOperator } from '../../node-call.ts';
import { hostTensor } from '../../value.ts';
import { rowsOf, staticRows } from './indices.ts';

/** Slices at indices of the first dimensions, after `batch_dims` dimensions that both inputs share. */
export const gatherND: OnnxOperator = call => {
  const [data, at] = [call.input(0), call.input(1)];
  const { host } = data;
  const lead = call.int('batch_dims', 0);
  const depth = at.shape.at(-1) ?? 0;
  const batch = data.shape.slice(0, lead);
  if (lead + depth > data.shape.length || `${at.shape.slice(0, lead)}` !== `${batch}`)
    call.fail(`cannot index [${data.shape}] by [${at.shape}] after ${lead} dimensions`);
  const outer = data.shape.slice(lead, lead + depth);
  const inner = data.shape.slice(lead + depth);
  const shape = [...at.shape.slice(0, -1), ...inner];
  const rows = elementCount(outer);
  const places = elementCount(at.shape.slice(0, -1));
  const placesOfEach = elementCount(at.shape.slice(lead, -1));
  const { draft } = call;
  /** The first row of the batch entry that result n belongs to. */
  const first = (n: number): number => Math.floor(n / (placesOfEach || 1)) * rows;
  const known = (): number[] | null => staticRows(call, at, outer)?.map((row, n) => row + first(n)) ?? null;
  return {
    ...{ type: data.type, shape },
    fold:
      host &&
      at.host &&
      (() => {
        const width = elementCount(inner);
        const { values } = host();
        const chosen = known() ?? call.refuse('has indices that depend on its inputs');
        let n = 0;
        return hostTensor(shape, () => {
          const at = n++;
          return values[chosen[Math.floor(at / width)] * width + (at % width)];
        });
      }),
    emit: () => {
      const flat = draft.reshape(data.tensor(), [elementCount(batch) * rows, elementCount(inner)]);
      const chosen = known();
      const own = chosen
        ? call.constant({ shape: [places], values: chosen }, int64Type)
        : draft.reshape(rowsOf(call, at, outer), [places]);
      const isBatched = !chosen && lead > 0;
      const firsts = Array.from({ length: places }, (_, n) => first(n));
      const indices = isBatched
        ? draft.op('Add', [own, call.constant({ shape: [places], values: firsts }, int64Type)])
        : own;
      return draft.reshape(draft.op('Take', [flat, indices], { axis: 0 }), shape);
    },
  };
};
