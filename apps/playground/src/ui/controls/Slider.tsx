import { useId } from 'react';

/** A number chosen by dragging or with the arrow keys. */
export function Slider(props: {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly step?: number;
  readonly format?: (value: number) => string;
  readonly onChange: (value: number) => void;
}) {
  const { label, value, min, max, step = 1, format = String, onChange } = props;
  const id = useId();
  return (
    <div className="slider">
      <label htmlFor={id}>{label}</label>
      <output htmlFor={id}>{format(value)}</output>
      <input
        id={id}
        type="range"
        min={min}
        max={max}
        step={step}
        value={value}
        aria-valuetext={format(value)}
        onChange={event => onChange(Number(event.currentTarget.value))}
      />
    </div>
  );
}
