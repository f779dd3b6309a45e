/** Counters, each with its label. */
export function Stats({
  items,
}: {
  readonly items: readonly (readonly [label: string, value: string | number])[];
}) {
  return (
    <dl className="stats">
      {items.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
