import { useMemo } from 'react';
import { peakedness } from '../../logic/streaming/peakedness.ts';
import { useUrlNumber } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Slider } from '../../ui/controls/Slider.tsx';

/** Random queries and keys: how much weight the largest of twelve scores takes, with and without 1/√d. */
export function WhyScale() {
  const { overview: text } = useText();
  const { fixed, percent } = useNumbers();
  const [power, setPower] = useUrlNumber('d', 6, { min: 0, max: 8 });
  const d = 2 ** power;
  const rows = useMemo(
    () => ([false, true] as const).map(scaled => ({ scaled, ...peakedness(d, scaled) })),
    [d],
  );
  return (
    <div className="stack">
      <Slider
        label={text.headSize}
        value={power}
        min={0}
        max={8}
        format={p => String(2 ** p)}
        onChange={setPower}
      />
      <dl className="scale-bars">
        {rows.map(({ scaled, spread, largest }) => (
          <div key={String(scaled)} data-scaled={scaled}>
            <dt>{scaled ? text.scaled : text.unscaled}</dt>
            <dd>
              <span className="track">
                <span className="bar" style={{ inlineSize: `${100 * largest}%` }} />
              </span>
              <span className="mono">{text.largest(percent(largest), fixed(spread, 1))}</span>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
