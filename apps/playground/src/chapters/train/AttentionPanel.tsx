import { useState } from 'react';
import type { AttentionMoment } from '../../logic/train/training.ts';
import { useUrlNumber } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Slider } from '../../ui/controls/Slider.tsx';
import { Formula } from '../../ui/formulas/Formula.tsx';
import { SectionTitle } from '../../ui/prose/SectionTitle.tsx';
import { formulas } from '../formulas.ts';
import { AttentionMap } from './AttentionMap.tsx';

/** The tokens that each head looks at, at any moment of the run, with the numbers for one chosen token. */
export function AttentionPanel(props: {
  readonly moments: readonly AttentionMoment[];
  readonly probe: readonly string[];
}) {
  const { moments, probe } = props;
  const text = useChapterText('train');
  const numbers = useNumbers();
  // Null means that the panel follows the run.
  const [held, setHeld] = useState<number | null>(null);
  const [chosen, setChosen] = useUrlNumber('head', 0, { min: 0, max: 63 });
  // In the recall task, the first choice is the first letter that is repeated.
  const [query, setQuery] = useUrlNumber('query', probe.length >> 1, { min: 0, max: probe.length - 1 });
  const last = moments.length - 1;
  const at = Math.min(held ?? last, last);
  const moment = moments[at];
  if (!moment) return null;
  const heads = moment.layers.flatMap((layer, l) =>
    Array.from({ length: layer.heads }, (_, h) => ({ layer, l, h })),
  );
  const number = Math.min(chosen, heads.length - 1);
  const head = heads[number];
  if (!head) return null;
  const { S, values } = head.layer;
  const weights = values.subarray((head.h * S + query) * S, (head.h * S + query + 1) * S);
  const most = weights.reduce((best, p, j) => (p > (weights[best] ?? 0) ? j : best), 0);
  return (
    <section className="panel" aria-labelledby="attention-title">
      <SectionTitle id="attention-title">{text.looksAt}</SectionTitle>
      <p>{text.looksAtWhy}</p>
      <Formula block tex={formulas.probabilities} />
      <div className="train-maps" data-symbol="P">
        {heads.map(({ layer, l, h }, n) => (
          <AttentionMap
            key={`${l} ${h}`}
            title={text.head(l + 1, h + 1)}
            layer={layer}
            head={h}
            query={query}
            chosen={n === number}
            onChoose={() => setChosen(n)}
          />
        ))}
      </div>
      <div className="train-sliders">
        <Slider
          label={text.moment}
          value={at}
          min={0}
          max={last}
          format={n => text.afterSteps(moments[n]?.step ?? 0, numbers.whole)}
          onChange={n => setHeld(n === last ? null : n)}
        />
        <Slider
          label={text.token}
          value={query}
          min={0}
          max={probe.length - 1}
          format={n => `${n}: ${shown(probe[n])}`}
          onChange={setQuery}
        />
      </div>
      <div className="train-tokens" aria-hidden="true">
        {probe
          .map((character, n) => ({ character, n }))
          .map(({ character, n }) => (
            <span
              key={n}
              data-query={n === query}
              data-later={n > query}
              style={{ background: `color-mix(in oklab, var(--read) ${mixed(weights[n])}%, var(--surface))` }}
              onPointerDown={() => setQuery(n)}
            >
              {shown(character)}
            </span>
          ))}
      </div>
      <p className="note" role="status">
        {text.looks(shown(probe[query]), shown(probe[most]), most, numbers.percent(weights[most] ?? 0))}
      </p>
    </section>
  );
}

/** The exponent keeps small weights visible, and the text readable on the largest. */
const mixed = (p = 0): number => Math.round(45 * Math.sqrt(p));

/** Replaces an invisible character by one that can be seen. */
const shown = (character = ''): string => ({ ' ': '␣', '\n': '⏎' })[character] ?? character;
