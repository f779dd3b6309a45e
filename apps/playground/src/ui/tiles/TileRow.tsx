import { useText } from '../../text/TextProvider.tsx';
import { TileCells, tileSize } from './TileCells.tsx';

/** One row of the picture of tiles: a query, and the tiles of its keys as they stream by. */
export function TileRow({ tiles, at }: { readonly tiles: number; readonly at: number }) {
  const { tiles: text } = useText();
  return (
    <div className="tile-row">
      <span>{text.row}</span>
      <svg viewBox={`0 0 ${tiles * tileSize} ${tileSize}`} role="img" aria-label={text.rowLabel(at, tiles)}>
        <TileCells
          rows={1}
          columns={tiles}
          state={(_, j) => (j === at - 1 ? 'now' : j < at ? 'met' : 'open')}
        />
      </svg>
    </div>
  );
}
