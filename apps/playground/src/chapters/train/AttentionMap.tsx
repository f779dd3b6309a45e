import type { LayerMaps } from '../../logic/train/training.ts';

/** The attention of one head, with a row for each query; a button chooses the head. */
export function AttentionMap(props: {
  readonly title: string;
  readonly layer: LayerMaps;
  readonly head: number;
  readonly query: number;
  readonly chosen: boolean;
  readonly onChoose: () => void;
}) {
  const { title, layer, head, query, chosen, onChoose } = props;
  const { S, values } = layer;
  const own = values.subarray(head * S * S, (head + 1) * S * S);
  return (
    <button type="button" className="train-map" aria-pressed={chosen} onClick={onChoose}>
      <span>{title}</span>
      <svg viewBox={`0 0 ${S} ${S}`} aria-hidden="true">
        {Array.from(own, (p, n) => ({ p, n }))
          .filter(({ p }) => p > 0.01)
          .map(({ p, n }) => (
            <rect key={n} x={n % S} y={Math.floor(n / S)} width="1" height="1" opacity={Math.sqrt(p)} />
          ))}
        <rect className="train-query" x="0" y={query} width={S} height="1" />
      </svg>
    </button>
  );
}
