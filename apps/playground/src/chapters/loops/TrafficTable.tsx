import { type Traffic, tilesMoved } from '../../logic/schedule/loop-order.ts';
import { useText } from '../../text/TextProvider.tsx';

/** The rows: a load of K and V moves a tile of each. */
const rows = [
  { name: 'loadsQ', kind: 'loadsQ', symbol: 'Q' },
  { name: 'loadsK', kind: 'loadsKv', symbol: 'K' },
  { name: 'loadsV', kind: 'loadsKv', symbol: 'V' },
  { name: 'loadsO', kind: 'loadsO', symbol: 'O' },
  { name: 'storesO', kind: 'storesO', symbol: 'O' },
] as const;

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
        {rows.map(({ name, kind, symbol }) => (
          <tr key={name} data-symbol={symbol}>
            <th scope="row">{text.traffic[name]}</th>
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
            <span className="mono">{now ? tilesMoved(now) : 0}</span>
          </td>
          <td className="mono">{tilesMoved(total)}</td>
        </tr>
      </tfoot>
    </table>
  );
}
