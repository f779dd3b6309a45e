import type { Traffic } from '../../logic/schedule/loop-order.ts';
import { useText } from '../../text/TextProvider.tsx';

const kinds: readonly (keyof Traffic)[] = ['loadsQ', 'loadsKv', 'loadsO', 'storesO'];
const symbols: Readonly<Record<keyof Traffic, string>> = {
  loadsQ: 'Q',
  loadsKv: 'K V',
  loadsO: 'O',
  storesO: 'O',
};

/** Tiles moved so far and in all. */
export function TrafficTable(props: {
  readonly label: string;
  readonly now: Traffic | null;
  readonly total: Traffic;
  readonly n: number;
}) {
  const { label, now, total, n } = props;
  const { loops: text } = useText();
  const most = n * n;
  const all = (traffic: Traffic | null): number =>
    kinds.reduce((sum, kind) => sum + (traffic?.[kind] ?? 0), 0);
  return (
    <table className="traffic" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">{text.moved}</th>
          <th scope="col">{text.soFar}</th>
          <th scope="col">{text.inAll}</th>
        </tr>
      </thead>
      <tbody>
        {kinds.map(kind => (
          <tr key={kind} data-symbol={symbols[kind]}>
            <th scope="row">{text.traffic[kind]}</th>
            <td>
              <span className="track">
                <span
                  className="bar"
                  data-kind={kind}
                  style={{ inlineSize: `${(100 * (now?.[kind] ?? 0)) / most}%` }}
                />
              </span>
              <span className="mono">{now?.[kind] ?? 0}</span>
            </td>
            <td className="mono">{total[kind]}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">{text.together}</th>
          <td>
            <span className="track empty" />
            <span className="mono">{all(now)}</span>
          </td>
          <td className="mono">{all(total)}</td>
        </tr>
      </tfoot>
    </table>
  );
}
