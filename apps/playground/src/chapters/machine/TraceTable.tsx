import type { Machine } from '../../machine/machine.ts';
import type { Run } from '../../machine/run.ts';
import { ScrollRegion } from '../../ui/ScrollRegion.tsx';

/** Everything that has run so far, with the registers after each instruction. */
export function TraceTable<V>(props: {
  readonly machine: Machine<V>;
  readonly run: Run<V>;
  readonly at: number;
  readonly onSeek: (at: number) => void;
}) {
  const { machine, run, at, onSeek } = props;
  const rows = run.steps.slice(0, at).map((step, n) => ({ ...step, n }));
  return (
    <ScrollRegion className="trace" label="Trace">
      <table>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Instruction</th>
            {machine.registers.map(register => (
              <th key={register} scope="col">
                {register}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ n, text, writes, state }) => (
            <tr key={n} data-current={n === at - 1}>
              <td>
                <button type="button" className="step-link" onClick={() => onSeek(n + 1)}>
                  {n + 1}
                </button>
              </td>
              <td>
                <code>{text}</code>
              </td>
              {machine.registers.map(register => {
                const value = state.registers.get(register);
                return (
                  <td key={register} data-written={register === writes}>
                    {value === undefined ? '' : machine.format(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
