import { useUrlNumber } from '../../app/url-state.ts';
import { headSize, scoresOf, sentence, words } from '../../streaming/sentence.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Rich } from '../../ui/Rich.tsx';
import { ScrollRegion } from '../../ui/ScrollRegion.tsx';

const places = words.map((word, j) => ({ word, j }));
const weightsOf = (i: number): number[] => {
  const scores = scoresOf(i);
  const m = Math.max(...scores);
  const sum = scores.reduce((total, x) => total + Math.exp(x - m), 0);
  return scores.map(x => Math.exp(x - m) / sum);
};
const all = places.map(({ j }) => weightsOf(j));

/**
 * One word asks all words: its scores, its weights, and what it takes from each; beside it the whole square.
 */
export function OneWord() {
  const { overview: text } = useText();
  const { fixed, percent, vector } = useNumbers();
  const [i, setI] = useUrlNumber('word', words.length - 1, { min: 0, max: words.length - 1 });
  const scores = scoresOf(i);
  const weights = all[i] ?? [];
  const o = Array.from({ length: headSize }, (_, c) =>
    weights.reduce((sum, p, j) => sum + p * (sentence.v[j]?.[c] ?? 0), 0),
  );
  const most = weights.indexOf(Math.max(...weights));
  const shade = (p = 0): string =>
    `color-mix(in oklab, var(--read) ${Math.round(70 * Math.sqrt(p))}%, var(--surface))`;
  return (
    <div className="stack">
      <fieldset className="sentence">
        <legend className="visually-hidden">{text.choose}</legend>
        {places.map(({ word, j }) => (
          <button
            key={j}
            type="button"
            aria-pressed={j === i}
            style={{ background: shade(weights[j]) }}
            onClick={() => setI(j)}
          >
            {word}
          </button>
        ))}
      </fieldset>
      <p role="status">
        <Rich text={text.looks(words[i] ?? '', words[most] ?? '', percent(weights[most] ?? 0))} />
      </p>
      <div className="one-word">
        <ScrollRegion label={text.table}>
          <table className="numbers">
            <caption>
              <Rich text={text.query(words[i] ?? '', vector(sentence.q[i] ?? [], 2))} />
            </caption>
            <thead>
              <tr>
                <th scope="col">{text.key}</th>
                <th scope="col">k</th>
                <th scope="col">q·k/√d</th>
                <th scope="col">p</th>
                <th scope="col">v</th>
              </tr>
            </thead>
            <tbody>
              {places.map(({ word, j }) => (
                <tr key={j}>
                  <th scope="row">{word}</th>
                  <td>{vector(sentence.k[j] ?? [], 1)}</td>
                  <td>{fixed(scores[j] ?? 0, 2)}</td>
                  <td style={{ background: shade(weights[j]) }}>{percent(weights[j] ?? 0)}</td>
                  <td>{vector(sentence.v[j] ?? [], 2)}</td>
                </tr>
              ))}
            </tbody>
            <tfoot>
              <tr>
                <th scope="row" colSpan={4}>
                  {text.output}
                </th>
                <td>{vector(o, 2)}</td>
              </tr>
            </tfoot>
          </table>
        </ScrollRegion>
        <figure className="all-words">
          <figcaption>{text.all}</figcaption>
          <svg
            viewBox={`0 0 ${words.length} ${words.length}`}
            role="img"
            aria-label={text.allLabel(words.length)}
          >
            {all.flatMap((row, a) =>
              row.map((p, b) => (
                <rect
                  // A pair is its place in the square.
                  // biome-ignore lint/suspicious/noArrayIndexKey: pairs never move.
                  key={`${a} ${b}`}
                  x={b + 0.06}
                  y={a + 0.06}
                  width="0.88"
                  height="0.88"
                  rx="0.15"
                  fill={shade(p)}
                  onPointerDown={() => setI(a)}
                />
              )),
            )}
            <rect className="row-at" x="0" y={i} width={words.length} height="1" rx="0.2" />
          </svg>
        </figure>
      </div>
    </div>
  );
}
