import { type ReactNode, useMemo } from 'react';
import { type DeviceName, devices } from '../../logic/schedule/devices.ts';
import { useUrlNumber } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Slider } from '../../ui/controls/Slider.tsx';
import { BesideText } from '../../ui/figures/BesideText.tsx';
import { RooflineChart } from './RooflineChart.tsx';
import { RooflineTable } from './RooflineTable.tsx';
import { headSize, schedulePoints, sequence } from './schedule-points.ts';

const names = Object.keys(devices) as DeviceName[];

/** The speed that a device can reach at each arithmetic intensity, and the position of each schedule. */
export function Roofline(props: {
  /** The text beside the figure, before and after the controls. */
  readonly before: ReactNode;
  readonly after: ReactNode;
}) {
  const { loops: text } = useText();
  const { whole } = useNumbers();
  const [peak, setPeak] = useUrlNumber('peak', devices['RTX 4090'].peak, { min: 1, max: 1500 });
  const [bandwidth, setBandwidth] = useUrlNumber('bandwidth', devices['RTX 4090'].bandwidth, {
    min: 50,
    max: 6000,
  });
  const [power, setPower] = useUrlNumber('rows', 6, { min: 4, max: 9 });
  const tile = 2 ** power;
  const device = names.find(name => devices[name].peak === peak && devices[name].bandwidth === bandwidth);
  const points = useMemo(() => schedulePoints(tile, { peak, bandwidth }), [tile, peak, bandwidth]);
  const choose = (name: DeviceName): void => {
    setPeak(devices[name].peak);
    setBandwidth(devices[name].bandwidth);
  };
  return (
    <BesideText
      after={props.after}
      figure={
        <div className="stack">
          <RooflineChart peak={peak} bandwidth={bandwidth} points={points} />
          <RooflineTable points={points} />
        </div>
      }
    >
      {props.before}
      <div className="devices">
        {names.map(name => (
          <button
            key={name}
            type="button"
            className="button"
            aria-pressed={name === device}
            onClick={() => choose(name)}
          >
            {name === 'laptop' ? text.laptop : name}
          </button>
        ))}
      </div>
      <Slider label={text.arithmetic} value={peak} min={1} max={1500} format={whole} onChange={setPeak} />
      <Slider
        label={text.memory}
        value={bandwidth}
        min={50}
        max={6000}
        format={whole}
        onChange={setBandwidth}
      />
      <Slider
        label={text.rowsPerTile}
        value={power}
        min={4}
        max={9}
        format={p => String(2 ** p)}
        onChange={setPower}
      />
      <p className="note">{text.rooflineNote(whole(sequence), headSize)}</p>
    </BesideText>
  );
}
