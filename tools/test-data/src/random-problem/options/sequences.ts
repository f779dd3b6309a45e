import { strided } from '../data/strided-data.ts';
import { cumulative, type Draft, type OperandName, type Starts } from '../draft.ts';
import { type Needs, option, type RandomOption } from './option.ts';

/** Sequences that are shorter than the tensor, or packed. */
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

/** B numbers in [0, extent]; 0 and the whole extent sometimes occur. */
function drawLengths({ B, random }: Draft, extent: number): number[] {
  return Array.from({ length: B }, () =>
    random.chance(0.15) ? 0 : random.chance(0.2) ? extent : random.integer(0, extent),
  );
}

/** Numbers, or a tensor with these numbers. */
function list({ random }: Draft, values: readonly number[]): unknown {
  if (random.chance(0.5)) return values;
  return strided([values.length], { dtype: random.pick(['i32', 'u32'] as const) }, ([n]) => values[n]);
}

interface Layouts {
  readonly operands: Readonly<Record<OperandName, Starts>>;
  /** The results that have ragged offsets. */
  readonly results: readonly ('o' | 'dq' | 'dk' | 'dv')[];
}

const layouts: Readonly<Record<string, Layouts>> = {
  ragged: {
    operands: { q: 'ragged', k: 'ragged', v: 'ragged', dO: 'ragged' },
    results: ['o', 'dq', 'dk', 'dv'],
  },
  'ragged q': { operands: { q: 'ragged', k: 'packed', v: 'packed', dO: 'packed' }, results: ['o'] },
  'ragged keys': { operands: { q: 'packed', k: 'ragged', v: 'ragged', dO: 'dense' }, results: ['dk'] },
  'dense q': { operands: { q: 'dense', k: 'packed', v: 'dense', dO: 'ragged' }, results: ['dq', 'dv'] },
};

/** Tensors with their own layouts, in problems whose sequences have cumulative lengths. */
export const starts: RandomOption = option({
  name: 'starts',
  kind: 'structure',
  values: [null, 'ragged', 'ragged q', 'ragged keys', 'dense q'],
  needs: (value): Needs =>
    value === null ? {} : { lengths: ['packed', 'packed with lengths'], pages: [null] },
  size(draft, value) {
    if (value !== null) Object.assign(draft.starts, layouts[value].operands);
  },
  add(draft, value) {
    if (value === null) return;
    // The operands have already added their offsets.
    const raggedOffsets = (draft.options.raggedOffsets ?? {}) as Record<string, readonly number[]>;
    for (const name of layouts[value].results) raggedOffsets[name] = resultOffsets(draft, name);
    draft.options.raggedOffsets = raggedOffsets;
  },
});

/** The starts of the sequences in a result, in which they follow each other without gaps. */
function resultOffsets(draft: Draft, name: Layouts['results'][number]): number[] {
  const { Hq, Hk, Hv, Dqk, Dv } = draft;
  const token = { o: Hq * Dv, dq: Hq * Dqk, dk: Hk * Dqk, dv: Hv * Dv }[name];
  const spans = name === 'o' || name === 'dq' ? draft.spansQ : draft.spansKv;
  return cumulative(spans ?? []).map(first => first * token);
}

/** k and v, or one of them, in pages behind a page table. Pages may be shared, so there is no backward. */
export const pages: RandomOption = option({
  name: 'pages',
  kind: 'structure',
  values: [null, 'k and v', 'k', 'packed k and v'],
  needs: (value): Needs =>
    value === null ? {} : { lengths: ['kv', 'both'], gradients: ['all'], dLse: [false] },
  size(draft, value) {
    const { random, pageSize } = draft;
    if (value === null) return;
    draft.backward = false;
    draft.packedPages = value.startsWith('packed');
    pageSize.k = random.pick([1, 4, 16, 32]);
    if (value !== 'k') pageSize.v = random.pick([1, 4, 16, 32]);
  },
});
