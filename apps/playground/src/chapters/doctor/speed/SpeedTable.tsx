import { type Measurement, teraflops } from '@tilewise/device-report';
import { useNumbers } from '../../../text/numbers.ts';
import { useChapterText } from '../../../text/useChapterText.ts';
import { ScrollRegion } from '../../../ui/figures/ScrollRegion.tsx';

/** Every measurement, and how many times faster flash is than attention with stored scores. */
export function SpeedTable({ rows }: { readonly rows: readonly Measurement[] }) {
  const text = useChapterText('doctor');
  const numbers = useNumbers();
  const naive = (row: Measurement): Measurement | undefined =>
    rows.find(other => other.implementation === 'naive' && other.pass === row.pass && other.S === row.S);
  const faster = (row: Measurement): string => {
    const other = row.implementation === 'flash' ? naive(row) : undefined;
    return row.ms && other?.ms ? `${numbers.significant(other.ms / row.ms, 2)} ×` : '';
  };
  const compared = rows.some(({ implementation }) => implementation === 'naive');
  return (
    <ScrollRegion label={text.table}>
      <table className="numbers">
        <caption>{text.table}</caption>
        <thead>
          <tr>
            <th scope="col">{text.length}</th>
            <th scope="col">{text.pass}</th>
            <th scope="col">{text.implementation}</th>
            <th scope="col">{text.time}</th>
            <th scope="col">GFLOP/s</th>
            <th scope="col">{text.memory}</th>
            <th scope="col">{text.error}</th>
            {compared && <th scope="col">{text.faster}</th>}
          </tr>
        </thead>
        <tbody>
          {[...rows].sort(byLength).map(row => (
            <tr key={`${row.S} ${row.pass} ${row.implementation}`}>
              <th scope="row">{numbers.whole(row.S)}</th>
              <td>{text.passes[row.pass]}</td>
              <td>{text.implementations[row.implementation]}</td>
              <td>
                {row.failure ? text.failures[row.failure] : `${numbers.significant(row.ms ?? 0, 3)} ms`}
              </td>
              <td>{row.ms === undefined ? '' : numbers.significant(1000 * (teraflops(row) ?? 0), 3)}</td>
              <td>{numbers.significant(row.bytes / 2 ** 20, 3)} MiB</td>
              <td>{row.error === undefined ? '' : numbers.short(row.error, 1)}</td>
              {compared && <td>{faster(row)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

/** Sorts by length, then forward before backward, then flash before stored. */
function byLength(a: Measurement, b: Measurement): number {
  return a.S - b.S || b.pass.localeCompare(a.pass) || a.implementation.localeCompare(b.implementation);
}
