import './tiles.css';

/**
 * The state of a pair of tiles: `open` before the visit, `now` during it, `met` afterwards; `hidden` if a
 * mask excludes the pair.
 */
export type TileState = 'open' | 'now' | 'met' | 'hidden';

/** The side of a tile in every picture of tiles. */
export const tileSize = 30;

const gap = 4;

/**
 * The picture of tiles that the chapters share: query tiles downwards, key tiles to the right, one cell for
 * each pair. Drawn at (x, y) in a figure.
 */
export function TileCells(props: {
  readonly rows: number;
  readonly columns: number;
  readonly state: (i: number, j: number) => TileState;
  readonly x?: number;
  readonly y?: number;
}) {
  const { rows, columns, state, x = 0, y = 0 } = props;
  const pairs = Array.from({ length: rows * columns }, (_, n) => ({
    i: Math.floor(n / columns),
    j: n % columns,
  }));
  return pairs.map(({ i, j }) => (
    <rect
      key={`${i} ${j}`}
      className="tile-cell"
      data-state={state(i, j)}
      x={x + j * tileSize + gap / 2}
      y={y + i * tileSize + gap / 2}
      width={tileSize - gap}
      height={tileSize - gap}
      rx="5"
    />
  ));
}
