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
  const found = useMemo(() => peakedness(d), [d]);
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
        {(['unscaled', 'scaled'] as const).map(name => (
          <div key={name} data-scaled={name === 'scaled'}>
            <dt>{text[name]}</dt>
            <dd>
              <span className="track">
                <span className="bar" style={{ inlineSize: `${100 * found[name].largest}%` }} />
              </span>
              <span className="mono">
                {text.largest(percent(found[name].largest), fixed(found[name].spread, 1))}
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
