import type { DataType } from '../data/storage.ts';
import { type StridedData, strided, wholeStrides } from '../data/strided-data.ts';
import { type Draft, scoreShape } from '../draft.ts';

/**
 * The dimensions of (B, Hq, Sq, Skv) that a tensor has itself: letters of `bhij`, and `0` for a dimension
 * with stride 0.
 */
export type Broadcast = string;

/** A tensor that broadcasts to the scores. Leading dimensions that it does not have are sometimes omitted. */
export function broadcastTensor(
  draft: Draft,
  dtype: DataType,
  broadcast: Broadcast,
  values: () => number,
): StridedData {
  const { random, garbage } = draft;
  const full = scoreShape(draft);
  const expanded = broadcast.includes('0');
  const has = [...'bhij'].map(letter => broadcast.includes(letter));
  const gap = random.chance(0.3) ? random.integer(1, 4) : 0;
  const stored = full.map((extent, d) => (has[d] ? extent : 1));
  // The rows are longer than needed, so that there are gaps between them.
  const own = wholeStrides([...stored.slice(0, 3), stored[3] + gap]);
  const shape = expanded ? full : stored;
  const strides = own.map((stride, d) => (has[d] ? stride : 0));
  const lead = expanded ? 0 : random.integer(0, Math.max(0, has.indexOf(true)));
  return strided(
    shape.slice(lead),
    { dtype, strides: strides.slice(lead), gaps: dtype.includes('f') ? garbage : 0 },
    values,
  );
}

/** Any broadcast at all. */
export function anyBroadcast({ random }: Draft): Broadcast {
  const letters = [...'bhij'].filter(() => random.chance(0.6)).join('');
  return random.chance(0.2) ? `${letters}0` : letters;
}
