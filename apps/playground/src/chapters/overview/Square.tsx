import { useUrlNumber } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Slider } from '../../ui/controls/Slider.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';

const cell = 10;

/** n words as a column of n marks, and their scores as a square of n × n; then the bytes of real lengths. */
export function Square() {
  const { overview: text } = useText();
  const { bytes, whole } = useNumbers();
  const [n, setN] = useUrlNumber('words', 12, { min: 1, max: 24 });
  const marks = Array.from({ length: n }, (_, k) => k);
  const lengths = [12, 1024, 8192, 131072];
  return (
    <div className="stack">
      <Slider label={text.words} value={n} min={1} max={24} onChange={setN} />
      <div className="square-figure">
        <svg viewBox="0 0 280 250" role="img" aria-label={text.squareLabel(n)}>
          {marks.map(r => (
            <rect
              key={r}
              className="word-mark"
              data-symbol="Q K V O"
              x="0"
              y={r * cell}
              width={cell - 2}
              height={cell - 2}
              rx="2"
            />
          ))}
          <defs>
            <pattern id="scores" width={cell} height={cell} x="30" patternUnits="userSpaceOnUse">
              <rect className="score-mark" width={cell - 2} height={cell - 2} rx="2" />
            </pattern>
          </defs>
          <rect data-symbol="S P" x="30" y="0" width={n * cell} height={n * cell} fill="url(#scores)" />
        </svg>
        <ScrollRegion label={text.bytesCaption} className="whole">
          <table className="numbers">
            <caption>{text.bytesCaption}</caption>
            <thead>
              <tr>
                <th scope="col">n</th>
                <th scope="col" data-symbol="Q K V O">
                  Q, K, V, O
                </th>
                <th scope="col" data-symbol="S P">
                  S, P
                </th>
              </tr>
            </thead>
            <tbody>
              {lengths.map(length => (
                <tr key={length}>
                  <th scope="row">{whole(length)}</th>
                  <td>{bytes(4 * 4 * 64 * length)}</td>
                  <td>{bytes(2 * 4 * length * length)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      </div>
    </div>
  );
}
