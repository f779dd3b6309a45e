import { headSize, scoresOf, sentence, words } from '../../logic/streaming/sentence.ts';
import { useUrlNumber } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';
import { Rich } from '../../ui/prose/Rich.tsx';

const places = words.map((word, j) => ({ word, j }));
const weightsOf = (i: number): number[] => {
  const scores = scoresOf(i);
  const m = Math.max(...scores);
  const sum = scores.reduce((total, x) => total + Math.exp(x - m), 0);
  return scores.map(x => Math.exp(x - m) / sum);
};
const shade = (p = 0): string =>
  `color-mix(in oklab, var(--read) ${Math.round(70 * Math.sqrt(p))}%, var(--surface))`;
const all = places.map(({ j }) => weightsOf(j));
/** Every weight, with its row and column. */
const pairs = all.flatMap((row, a) => Array.from(row, (p, b) => ({ a, b, p })));

/** The word that asks; the address stores it. */
const useWord = (): [number, (i: number) => void] =>
  useUrlNumber('word', words.length - 1, { min: 0, max: words.length - 1 });

/** One word asks all words: its scores, its weights, and its share of each value. */
export function OneWord() {
  const { overview: text } = useText();
  const { fixed, percent, vector } = useNumbers();
  const [i, setI] = useWord();
  const scores = scoresOf(i);
  const weights = all[i] ?? [];
  const o = Array.from({ length: headSize }, (_, c) =>
    weights.reduce((sum, p, j) => sum + p * (sentence.v[j]?.[c] ?? 0), 0),
  );
  const most = weights.indexOf(Math.max(...weights));
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
      <ScrollRegion label={text.table}>
        <table className="numbers formula-heads">
          <caption data-symbol="q Q">
            <Rich text={text.query(words[i] ?? '', vector(sentence.q[i] ?? [], 2))} />
          </caption>
          <thead>
            <tr>
              <th scope="col">{text.key}</th>
              <th scope="col" data-symbol="k K">
                k
              </th>
              <th scope="col" data-symbol="S">
                q·k/√d
              </th>
              <th scope="col" data-symbol="P p">
                p
              </th>
              <th scope="col" data-symbol="v V">
                v
              </th>
            </tr>
          </thead>
          <tbody>
            {places.map(({ word, j }) => (
              <tr key={j}>
                <th scope="row">{word}</th>
                <td data-symbol="k K">{vector(sentence.k[j] ?? [], 1)}</td>
                <td data-symbol="S">{fixed(scores[j] ?? 0, 2)}</td>
                <td data-symbol="P p" style={{ background: shade(weights[j]) }}>
                  {percent(weights[j] ?? 0)}
                </td>
                <td data-symbol="v V">{vector(sentence.v[j] ?? [], 2)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row" colSpan={4}>
                {text.output}
              </th>
              <td data-symbol="o O">{vector(o, 2)}</td>
            </tr>
          </tfoot>
        </table>
      </ScrollRegion>
    </div>
  );
}

/** Room for the names of rows and columns, in cells. */
const margin = 3;

/** The weights of all words; the row of the word that asks is outlined. */
export function AllWords() {
  const { overview: text } = useText();
  const [i, setI] = useWord();
  return (
    <figure className="all-words" data-symbol="P">
      <figcaption>{text.all}</figcaption>
      <svg
        viewBox={`${-margin} ${-margin} ${words.length + margin} ${words.length + margin}`}
        role="img"
        aria-label={text.allLabel(words.length)}
      >
        {pairs.map(({ a, b, p }) => (
          <rect
            key={`${a} ${b}`}
            x={b + 0.06}
            y={a + 0.06}
            width="0.88"
            height="0.88"
            rx="0.15"
            fill={shade(p)}
            onPointerDown={() => setI(a)}
          />
        ))}
        {places.map(({ word, j }) => (
          <g key={j} className="names">
            <text className="asks" data-now={j === i} x="-0.2" y={j + 0.7} onPointerDown={() => setI(j)}>
              {word}
            </text>
            <text transform={`translate(${j + 0.7} -0.2) rotate(-90)`}>{word}</text>
          </g>
        ))}
        <rect className="row-at" x="0" y={i} width={words.length} height="1" rx="0.2" />
      </svg>
    </figure>
  );
}
