import type { Machine } from '../../../logic/machine/machine.ts';
import type { Run } from '../../../logic/machine/run.ts';
import { useText } from '../../../text/TextProvider.tsx';
import { ScrollRegion } from '../../../ui/figures/ScrollRegion.tsx';

/** Scrolls to the row of the current step. scrollIntoView would not do: it would move the page, too. */
function scrollToRow(row: HTMLTableRowElement | null): void {
  const region = row?.closest('section');
  if (row && region) region.scrollTop = row.offsetTop - region.clientHeight + 2 * row.offsetHeight;
}

/**
 * The first `at` executed instructions, with the registers after each. Clicking a step's number goes to that
 * step.
 */
export function TraceTable<V>(props: {
  readonly label: string;
  readonly machine: Machine<V>;
  readonly run: Run<V>;
  readonly at: number;
  readonly onSeek?: (at: number) => void;
}) {
  const { label, machine, run, at, onSeek } = props;
  const { bench } = useText();
  const rows = run.steps.slice(0, at).map((step, n) => ({ ...step, n }));
  return (
    <ScrollRegion className="trace" label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">{bench.step}</th>
            <th scope="col">{bench.instruction}</th>
            {machine.registers.map(register => (
              <th key={register} scope="col">
                {register}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ n, text, writes, state }) => (
            <tr
              key={n}
              ref={onSeek && n === at - 1 ? scrollToRow : undefined}
              data-current={onSeek !== undefined && n === at - 1}
            >
              <td>
                {onSeek ? (
                  <button type="button" className="step-link" onClick={() => onSeek(n + 1)}>
                    {n + 1}
                  </button>
                ) : (
                  n + 1
                )}
              </td>
              <td>
                <code>{text}</code>
              </td>
              {machine.registers.map(register => {
                const value = state.registers.get(register);
                return (
                  <td key={register} data-written={register === writes}>
                    {value === undefined ? '' : bench.written(machine.format(value))}
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
