import { useMemo } from 'react';
import { useText } from '../../text/TextProvider.tsx';
import { type KnownMask, maskTiles } from './mask-tiles.ts';
import { TileCells, type TileState, tileSize } from './TileCells.tsx';

const states = { skipped: 'hidden', tested: 'met', whole: 'now' } as const satisfies Record<
  string,
  TileState
>;

/** The picture of tiles under a mask: which tiles a kernel skips, and which it tests pair by pair. */
export function MaskTiles(props: {
  readonly scores: Float32Array;
  readonly S: number;
  readonly tile: number;
  readonly known: KnownMask | undefined;
}) {
  const { scores, S, tile, known } = props;
  const { tiles: text } = useText();
  const rows = useMemo(() => maskTiles(scores, S, tile, known), [scores, S, tile, known]);
  const count = (kind: keyof typeof states): number => rows.flat().filter(one => one === kind).length;
  return (
    <div className="tile-row">
      <span>{text.masked(tile, count('skipped'), count('tested'), count('whole'))}</span>
      <svg
        style={{ maxWidth: '9rem', maxHeight: 'none' }}
        viewBox={`0 0 ${rows.length * tileSize} ${rows.length * tileSize}`}
        aria-hidden="true"
      >
        <TileCells
          rows={rows.length}
          columns={rows.length}
          state={(i, j) => states[rows[i]?.[j] ?? 'skipped']}
        />
      </svg>
    </div>
  );
}
