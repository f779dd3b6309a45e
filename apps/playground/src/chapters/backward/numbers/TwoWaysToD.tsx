import type { AttentionNumbers } from '../../../logic/gradients/attention-numbers.ts';
import { words } from '../../../logic/gradients/four-words.ts';
import { useNumbers } from '../../../text/numbers.ts';
import { useChapterText } from '../../../text/useChapterText.ts';
import { ScrollRegion } from '../../../ui/figures/ScrollRegion.tsx';

/** D of each row as the sum over dO and O, and as the sum over P and dP, with what each sum reads. */
export function TwoWaysToD({ numbers }: { readonly numbers: AttentionNumbers }) {
  const text = useChapterText('backward');
  const { fixed } = useNumbers();
  const [n, d] = [words.length, numbers.O[0]?.length ?? 0];
  const sumOverKeys = (row: number): number =>
    numbers.P[row]?.reduce((sum, p, j) => sum + p * (numbers.dP[row]?.[j] ?? 0), 0) ?? 0;
  return (
    <div className="stack">
      <h3>{text.twoD}</h3>
      <ScrollRegion label={text.twoD}>
        <table className="numbers">
          <thead>
            <tr>
              <td />
              <th scope="col">Σ dO ∘ O</th>
              <th scope="col">Σ P ∘ dP</th>
            </tr>
          </thead>
          <tbody>
            {words.map((word, row) => (
              <tr key={word}>
                <th scope="row">{word}</th>
                <td>{fixed(numbers.D[row] ?? 0, 6)}</td>
                <td>{fixed(sumOverKeys(row), 6)}</td>
              </tr>
            ))}
            <tr>
              <th scope="row">{text.readsFor(n)}</th>
              <td>{2 * n * d}</td>
              <td>{2 * n * n * d}</td>
            </tr>
            <tr>
              <th scope="row">{text.readsFormula}</th>
              <td>2·n·d</td>
              <td>2·n²·d / T</td>
            </tr>
          </tbody>
        </table>
      </ScrollRegion>
      <p className="note">{text.readsNote}</p>
    </div>
  );
}
