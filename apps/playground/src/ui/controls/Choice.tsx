import { Segmented } from './Segmented.tsx';

/** One of a few choices, with a visible label. */
export function Choice<T extends string>(props: {
  readonly label: string;
  readonly value: T;
  readonly options: Readonly<Record<T, string>>;
  readonly onChange: (value: T) => void;
}) {
  const { label, value, options, onChange } = props;
  return (
    <div className="choice">
      <span aria-hidden="true">{label}</span>
      <Segmented
        label={label}
        value={value}
        options={(Object.keys(options) as T[]).map(option => ({ value: option, label: options[option] }))}
        onChange={onChange}
      />
    </div>
  );
}
