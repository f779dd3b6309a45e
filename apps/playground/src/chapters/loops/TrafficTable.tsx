import type { Traffic } from '../../schedule/loop-order.ts';

const rows: readonly (readonly [keyof Traffic, string])[] = [
  ['loadsQ', 'Q loads'],
  ['loadsKv', 'K and V loads'],
  ['loadsO', 'O loads'],
  ['storesO', 'O stores'],
];

/** Tiles moved so far and in all. */
export function TrafficTable(props: {
  readonly now: Traffic | null;
  readonly total: Traffic;
  readonly n: number;
}) {
  const { now, total, n } = props;
  const most = n * n;
  return (
    <table className="traffic">
      <thead>
        <tr>
          <th scope="col">Tiles moved</th>
          <th scope="col">so far</th>
          <th scope="col">in all</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([key, label]) => (
          <tr key={key}>
            <th scope="row">{label}</th>
            <td>
              <span className="bar" style={{ inlineSize: `${(100 * (now?.[key] ?? 0)) / most}%` }} />
              <span className="mono">{now?.[key] ?? 0}</span>
            </td>
            <td className="mono">{total[key]}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
