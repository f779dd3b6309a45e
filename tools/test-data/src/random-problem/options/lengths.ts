import { cumulative, type Draft } from '../draft.ts';
import { option, type RandomOption } from '../option.ts';
import { strided } from '../strided-data.ts';

/** Which sequences are shorter than the tensor, or lie packed behind each other. */
export const lengths: RandomOption = option({
  name: 'lengths',
  kind: 'structure',
  values: ['full', 'q', 'kv', 'both', 'packed', 'packed with lengths'],
  size(draft, value) {
    const { Sq, Skv, B } = draft;
    const packed = value.startsWith('packed');
    const shortQ = packed || value === 'q' || value === 'both';
    const shortKv = packed || value === 'kv' || value === 'both';
    draft.lengthsQ = shortQ ? drawLengths(draft, Sq) : new Array<number>(B).fill(Sq);
    draft.lengthsKv = shortKv ? drawLengths(draft, Skv) : new Array<number>(B).fill(Skv);
    if (!packed) return;
    const span = (n: number): number =>
      value === 'packed with lengths' ? n + Math.max(0, draft.random.integer(-3, 5)) : n;
    Object.assign(draft.starts, { q: 'packed', k: 'packed', v: 'packed', dO: 'packed' });
    draft.spansQ = draft.lengthsQ.map(span);
    draft.spansKv = draft.lengthsKv.map(span);
    const total = (spans: readonly number[]): number =>
      spans.reduce((sum, n) => sum + n, 0) + (draft.random.chance(0.5) ? draft.random.integer(1, 4) : 0);
    draft.tokensQ = total(draft.spansQ);
    draft.tokensKv = total(draft.spansKv);
    // A stated maximum may be larger than the longest sequence.
    const more = draft.random.chance(0.3) ? draft.random.integer(1, 9) : 0;
    draft.Sq = Math.max(0, ...draft.spansQ) + more;
    draft.Skv = Math.max(0, ...draft.spansKv) + more;
    if (more > 0 || draft.random.chance(0.3)) {
      draft.options.maxSeqLenQ = draft.Sq;
      draft.options.maxSeqLenKv = draft.Skv;
    }
  },
  add(draft, value) {
    const { options, lengthsQ, lengthsKv, spansQ, spansKv } = draft;
    if (value === 'q' || value === 'both' || value === 'packed with lengths')
      options.seqLensQ = list(draft, lengthsQ);
    if (value === 'kv' || value === 'both' || value === 'packed with lengths')
      options.seqLensKv = list(draft, lengthsKv);
    if (spansQ) options.cuSeqLensQ = list(draft, cumulative(spansQ));
    if (spansKv) options.cuSeqLensKv = list(draft, cumulative(spansKv));
  },
});

/** B numbers in [0, extent]; none and the whole extent are among them now and then. */
function drawLengths({ B, random }: Draft, extent: number): number[] {
  return Array.from({ length: B }, () =>
    random.chance(0.15) ? 0 : random.chance(0.2) ? extent : random.integer(0, extent),
  );
}

/** Numbers, or a tensor of them. */
function list({ random }: Draft, values: readonly number[]): unknown {
  if (random.chance(0.5)) return values;
  return strided([values.length], { dtype: random.pick(['i32', 'u32'] as const) }, ([n]) => values[n]);
}
