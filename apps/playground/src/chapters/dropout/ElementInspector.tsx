import type { ElementTrace } from '../../dropout-trace/trace-element.ts';
import { Reveal } from '../../ui/Reveal.tsx';
import { ScrollRegion } from '../../ui/ScrollRegion.tsx';

const hex = (word: number): string => word.toString(16).padStart(8, '0');

/** How one element's decision comes about: address, key, rounds, comparison. */
export function ElementInspector({ trace }: { readonly trace: ElementTrace }) {
  const { counter, key, rounds, lane, byte, drawn, threshold, keep, rule } = trace;
  const share = drawn / (byte === null ? 2 ** 32 : 256);
  const edge = threshold / (byte === null ? 2 ** 32 : 256);
  return (
    <div className="stack">
      <dl className="running">
        <div>
          <dt>Counter</dt>
          <dd>{counter.map(hex).join(' ')}</dd>
        </div>
        <div>
          <dt>Key (the seed)</dt>
          <dd>{key.map(hex).join(' ')}</dd>
        </div>
        <div>
          <dt>{byte === null ? `Word ${lane}` : `Byte ${byte} of word ${lane}`}</dt>
          <dd>{byte === null ? hex(drawn) : drawn.toString(16).padStart(2, '0')}</dd>
        </div>
        <div data-keep={keep}>
          <dt>Decision</dt>
          <dd>
            {rule} {keep ? 'holds: kept' : 'does not hold: dropped'}
          </dd>
        </div>
      </dl>
      <svg
        viewBox="0 0 400 26"
        className="decision"
        role="img"
        aria-label={`The drawn number is ${(100 * share).toFixed(1)} % of its range, the threshold ${(100 * edge).toFixed(1)} %`}
      >
        <rect
          className="keep"
          x={byte === null ? 400 * edge : 0}
          width={byte === null ? 400 * (1 - edge) : 400 * edge}
          y="8"
          height="10"
          rx="2"
        />
        <rect
          className="drop"
          x={byte === null ? 0 : 400 * edge}
          width={byte === null ? 400 * edge : 400 * (1 - edge)}
          y="8"
          height="10"
          rx="2"
        />
        <path className="drawn" d={`M${400 * share} 2v22`} />
      </svg>
      <Reveal summary={`The ${rounds.length - 1} rounds`}>
        <ScrollRegion label="Rounds">
          <table className="mono">
            <thead>
              <tr>
                <th scope="col">Round</th>
                <th scope="col">Block</th>
              </tr>
            </thead>
            <tbody>
              {rounds.map((block, n) => (
                <tr key={block.join()}>
                  <td>{n === 0 ? 'counter' : n}</td>
                  <td>{block.map(hex).join(' ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
        <p>
          A round multiplies two of the words by constants, swaps the halves and mixes in the key, which grows
          by the golden ratio. Change one bit of the counter and after a few rounds every bit has changed.
        </p>
      </Reveal>
    </div>
  );
}
