/**
 * What the kernel does with a tile of scores under a mask: it skips the tile, tests each pair, or tests none.
 */
export type MaskedTile = 'skipped' | 'tested' | 'whole';

/**
 * Classifies the tiles of S × S scores, row by row; hidden scores are NaN.
 * @param tile rows and columns of a tile; the last ones are smaller where it does not divide S.
 */
export function maskTiles(scores: Float32Array, S: number, tile: number): MaskedTile[][] {
  const count = Math.ceil(S / tile);
  const places = Array.from({ length: count }, (_, n) => n);
  const seenIn = (i: number, j: number): [seen: number, all: number] => {
    let [seen, all] = [0, 0];
    for (let r = i * tile; r < Math.min(S, (i + 1) * tile); r++) {
      for (let c = j * tile; c < Math.min(S, (j + 1) * tile); c++) {
        all++;
        if (!Number.isNaN(scores[r * S + c])) seen++;
      }
    }
    return [seen, all];
  };
  return places.map(i =>
    places.map(j => {
      const [seen, all] = seenIn(i, j);
      return seen === 0 ? 'skipped' : seen === all ? 'whole' : 'tested';
    }),
  );
}
