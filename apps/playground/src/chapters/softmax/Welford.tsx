import { welford } from '../../logic/streaming/welford.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';

/** The variance in one pass over the chapter's numbers. */
export function Welford({ x }: { readonly x: readonly number[] }) {
  const { softmax: text } = useText();
  const { significant } = useNumbers();
  const steps = welford(x);
  return (
    <ScrollRegion label={text.welford}>
      <table className="numbers">
        <thead>
          <tr>
            {['x', 'δ', 'x̄', 'M₂', 's² = M₂ / (n − 1)'].map(name => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.map(({ n, x: value, delta, mean, m2 }) => (
            <tr key={n}>
              <th scope="row">{significant(value, 4)}</th>
              <td>{significant(delta, 4)}</td>
              <td>{significant(mean, 4)}</td>
              <td>{significant(m2, 4)}</td>
              <td>{n > 1 ? significant(m2 / (n - 1), 4) : '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
