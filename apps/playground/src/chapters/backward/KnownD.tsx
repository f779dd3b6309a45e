import { useMemo } from 'react';
import { blockVisits } from '../../logic/schedule/backward-order.ts';
import { useUrlChoice, useUrlNumber } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Player } from '../../ui/controls/Player.tsx';
import { Segmented } from '../../ui/controls/Segmented.tsx';
import { Slider } from '../../ui/controls/Slider.tsx';
import { usePlayback } from '../../ui/controls/usePlayback.ts';
import { Stats } from '../../ui/figures/Stats.tsx';

const cell = 30;
/** S, dP, dV, dK and dQ. */
const products = 5;

/** How often a row-wise walk loads K and V, with D = rowsum(dO ∘ O) computed beforehand and without. */
export function KnownD() {
  const text = useChapterText('backward');
  const { fixed } = useNumbers();
  const [when, setWhen] = useUrlChoice('d', 'known', ['known', 'late']);
  const [n, setN] = useUrlNumber('blocks', 6, { min: 2, max: 10 });
  const visits = useMemo(() => blockVisits(n, when === 'known'), [n, when]);
  const playback = usePlayback('loaded', visits.length, 160, Math.round(1.5 * n));
  const done = visits.slice(0, playback.at);
  const current = done.at(-1);
  const loadsOf = (i: number, j: number): number =>
    done.filter(visit => visit.i === i && visit.j === j).length;
  const indices = Array.from({ length: n }, (_, k) => k);
  return (
    <div className="stack">
      <div className="toolbar">
        <Segmented
          label={text.whenD}
          value={when}
          options={[
            { value: 'known', label: text.knownD },
            { value: 'late', label: text.lateD },
          ]}
          onChange={setWhen}
        />
        <Slider label={text.blocks} value={n} min={2} max={10} onChange={setN} />
      </div>
      <div className="beside">
        <div className="stack">
          <svg
            className="known"
            viewBox={`0 0 ${n * cell} ${n * cell}`}
            role="img"
            aria-label={text.loadsFigure(done.length, visits.length)}
          >
            {indices.flatMap(i =>
              indices.map(j => {
                const loads = loadsOf(i, j);
                const now = current?.i === i && current.j === j;
                return (
                  <g key={`${i},${j}`}>
                    <rect
                      className="block"
                      data-loads={loads}
                      data-now={now ? current.purpose : undefined}
                      x={j * cell + 2}
                      y={i * cell + 2}
                      width={cell - 4}
                      height={cell - 4}
                      rx="5"
                    />
                    {loads > 0 && (
                      <text data-now={now} x={j * cell + cell / 2} y={i * cell + cell / 2 + 4}>
                        {loads}
                      </text>
                    )}
                  </g>
                );
              }),
            )}
          </svg>
          <Player playback={playback} unit="visit" />
        </div>
        <div className="stack">
          <Stats
            items={[
              [text.kLoads, `${done.length} / ${visits.length}`],
              [text.vLoads, `${done.length} / ${visits.length}`],
              [text.productsPerLoad, fixed((products * n * n) / visits.length, 1)],
            ]}
          />
          <p className="note">{current ? text.purposes[current.purpose] : text.notBegun}</p>
          <ol className="block-steps">
            {text.blockSteps[when].map(step => (
              <li key={step}>{step}</li>
            ))}
          </ol>
        </div>
      </div>
    </div>
  );
}
