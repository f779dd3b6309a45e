import { useMemo, useRef } from 'react';
import { cellLabel, cellName, indices, type Machine } from '../../../logic/machine/machine.ts';
import type { MachineState, Step } from '../../../logic/machine/run.ts';
import { useText } from '../../../text/TextProvider.tsx';
import './machine.css';
import { useFlight } from './useFlight.ts';

/** The number of cells of an array that fit side by side without breaking a number. */
const maxColumns: Readonly<Record<Machine<unknown>['id'], number>> = { matrix: 2, softmax: 4, attention: 6 };

interface MachineViewProps<V> {
  readonly machine: Machine<V>;
  readonly state: MachineState<V>;
  /** The step that was just executed: the cells and registers that it read or wrote are lit. */
  readonly step: Step<V> | null;
}

/**
 * The current state of the machine: DRAM on the left, registers in the middle, the compute unit on the right.
 */
export function MachineView<V>({ machine, state, step }: MachineViewProps<V>) {
  const text = useText().bench;
  const stage = useRef<HTMLElement>(null);
  const flight = useMemo(() => {
    if (!step) return null;
    const formatted = (place: string): string => {
      const value = step.before.registers.get(place) ?? step.before.memory.get(place);
      return value === undefined ? '' : text.written(machine.format(value));
    };
    return { from: step.reads.map(place => ({ place, value: formatted(place) })), to: step.writes };
  }, [step, machine, text]);
  useFlight(stage, flight);
  const light = (place: string): 'write' | 'read' | undefined => {
    if (step?.writes === place) return 'write';
    return step?.reads.includes(place) ? 'read' : undefined;
  };
  const show = (value: V | undefined): string =>
    value === undefined ? '' : text.written(machine.format(value));
  const columnsOf = (shape: readonly number[]): number => Math.min(maxColumns[machine.id], shape.at(-1) ?? 1);
  const opcode = step?.text.split(' ')[0];
  const computes = opcode !== undefined && opcode !== 'LOAD' && opcode !== 'STORE';
  return (
    <section className="machine" data-machine={machine.id} ref={stage} aria-label={text.machines[machine.id]}>
      <section className="dram" aria-label={text.dram}>
        <h3>{text.dram}</h3>
        <div className="regions">
          {machine.memory.map(({ name, shape }) => (
            <table
              key={name}
              className="region"
              style={{ '--columns': columnsOf(shape) } as React.CSSProperties}
            >
              <caption>{shape.length === 2 ? name.toUpperCase() : name}</caption>
              <tbody>
                {rows(shape, columnsOf(shape)).map(row => (
                  <tr key={row.map(String).join(' ')}>
                    {row.map(index => {
                      const place = cellName(name, index);
                      const value = show(state.memory.get(place));
                      return (
                        <td
                          key={place}
                          data-place={place}
                          data-lit={light(place)}
                          title={`${place}${value && `: ${value}`}`}
                        >
                          <span className="value">
                            {value || <span className="empty">{cellLabel(name, index)}</span>}
                          </span>
                        </td>
                      );
                    })}
                  </tr>
                ))}
              </tbody>
            </table>
          ))}
        </div>
      </section>
      <div className="bus" aria-hidden="true">
        <Arrow label="LOAD" towards="right" active={opcode === 'LOAD'} />
        <Arrow label="STORE" towards="left" active={opcode === 'STORE'} />
      </div>
      <section className="registers" aria-label={text.registers}>
        <h3>{text.registers}</h3>
        <dl>
          {machine.registers.map(register => (
            <div key={register} data-place={register} data-lit={light(register)}>
              <dt>{register}</dt>
              <dd>{show(state.registers.get(register)) || <span className="empty">{text.empty}</span>}</dd>
            </div>
          ))}
        </dl>
      </section>
      <div className="bus" aria-hidden="true">
        <Arrow label="" towards="right" active={computes} />
        <Arrow label="" towards="left" active={computes} />
      </div>
      <section className="unit" data-active={computes} aria-label={text.compute}>
        <h3>{text.compute}</h3>
        <p className="mono">{computes ? opcode : text.idle}</p>
        <p className="meaning">
          {machine.instructions.find(({ name }) => computes && name === opcode)?.meaning ?? ' '}
        </p>
      </section>
      <p className="visually-hidden" role="status">
        {step
          ? text.executed(
              step.text,
              step.writes,
              show(state.registers.get(step.writes) ?? state.memory.get(step.writes)),
            )
          : text.nothingYet}
      </p>
    </section>
  );
}

/** The indices of an array in rows of the given number of cells. */
function rows(shape: readonly number[], columns: number): number[][][] {
  const all = indices(shape);
  return Array.from({ length: Math.ceil(all.length / columns) }, (_, r) =>
    all.slice(r * columns, (r + 1) * columns),
  );
}

function Arrow(props: {
  readonly label: string;
  readonly towards: 'left' | 'right';
  readonly active: boolean;
}) {
  const { label, towards, active } = props;
  return (
    <span className="arrow" data-active={active} data-towards={towards}>
      {label}
      <svg viewBox="0 0 48 12" aria-hidden="true">
        <path d="M6 6h36" />
        <path d={towards === 'left' ? 'M10 2 6 6l4 4' : 'm38 2 4 4-4 4'} />
      </svg>
    </span>
  );
}
