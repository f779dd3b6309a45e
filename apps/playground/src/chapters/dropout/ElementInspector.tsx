import { Fragment } from 'react';
import type { ElementTrace } from '../../logic/dropout-trace/trace-element.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';

const hex = (word: number): string => word.toString(16).padStart(8, '0');
const bits = 128;

/** How one element is decided: address, key, rounds, comparison. */
export function ElementInspector({ trace }: { readonly trace: ElementTrace }) {
  const text = useChapterText('dropout');
  const { percent, whole } = useNumbers();
  const { counter, key, rounds, avalanche, lane, byte, drawn, threshold, keep, comparison } = trace;
  const rule = `${whole(drawn)} ${comparison} ${whole(threshold)}`;
  const range = byte === null ? 2 ** 32 : 256;
  const [share, edge] = [drawn / range, threshold / range];
  // A word is kept if it is at least the threshold, a byte if it is below it.
  const [keepAt, keepWidth] = byte === null ? [edge, 1 - edge] : [0, edge];
  const [dropAt, dropWidth] = byte === null ? [0, edge] : [edge, 1 - edge];
  return (
    <div className="stack">
      <dl className="running">
        <div>
          <dt>{text.counter}</dt>
          <dd>{counter.map(hex).join(' ')}</dd>
        </div>
        <div>
          <dt>{text.key}</dt>
          <dd>{key.map(hex).join(' ')}</dd>
        </div>
        <div>
          <dt>{byte === null ? text.word(lane) : text.byte(byte, lane)}</dt>
          <dd>{byte === null ? hex(drawn) : drawn.toString(16).padStart(2, '0')}</dd>
        </div>
        <div data-keep={keep}>
          <dt>{text.decision}</dt>
          <dd>{keep ? text.kept(rule) : text.dropped(rule)}</dd>
        </div>
      </dl>
      <figure className="decision">
        <svg viewBox="0 0 400 26" aria-hidden="true">
          <rect className="keep" x={400 * keepAt} width={400 * keepWidth} y="8" height="10" rx="2" />
          <rect className="drop" x={400 * dropAt} width={400 * dropWidth} y="8" height="10" rx="2" />
          <path className="drawn" d={`M${400 * share} 2v22`} />
        </svg>
        <figcaption className="note">{text.drawn(percent(share, 1), percent(edge, 1))}</figcaption>
      </figure>
      <ScrollRegion label={text.rounds(rounds.length - 1)}>
        <table className="rounds">
          <caption>{text.rounds(rounds.length - 1)}</caption>
          <thead>
            <tr>
              <th scope="col">{text.round}</th>
              <th scope="col">{text.block}</th>
              <th scope="col">{text.flipped}</th>
            </tr>
          </thead>
          <tbody>
            {rounds.map((block, n) => (
              <tr key={block.join()}>
                <th scope="row">{n === 0 ? text.counter : n}</th>
                <td className="mono block">
                  {block
                    .map((word, w) => ({ word, w }))
                    .map(({ word, w }) => (
                      <Fragment key={w}>
                        <span data-decides={n === rounds.length - 1 && w === lane}>{hex(word)}</span>{' '}
                      </Fragment>
                    ))}
                </td>
                <td>
                  <span className="track">
                    <span className="bar" style={{ inlineSize: `${(100 * (avalanche[n] ?? 0)) / bits}%` }} />
                  </span>
                  <span className="mono">{avalanche[n]}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      <p className="note">{text.roundsWhy}</p>
    </div>
  );
}
