import { cumulative, type Draft, type OperandName, type Starts } from '../draft.ts';
import { type Needs, option, type RandomOption } from '../option.ts';

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

/** Tensors with layouts of their own, where sequences have cumulative lengths. */
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
    // Operands have added theirs.
    const raggedOffsets = (draft.options.raggedOffsets ?? {}) as Record<string, readonly number[]>;
    for (const name of layouts[value].results) raggedOffsets[name] = resultOffsets(draft, name);
    draft.options.raggedOffsets = raggedOffsets;
  },
});

/** Where sequences start in a result, in which they follow each other. */
function resultOffsets(draft: Draft, name: Layouts['results'][number]): number[] {
  const { Hq, Hk, Hv, Dqk, Dv } = draft;
  const token = { o: Hq * Dv, dq: Hq * Dqk, dk: Hk * Dqk, dv: Hv * Dv }[name];
  const spans = name === 'o' || name === 'dq' ? draft.spansQ : draft.spansKv;
  return cumulative(spans ?? []).map(first => first * token);
}
