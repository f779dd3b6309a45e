/**
 * What the kernel does with a tile of scores under a mask: it skips the tile, tests each pair, or tests none.
 */
export type MaskedTile = 'skipped' | 'tested' | 'whole';

/**
 * The kernel's knowledge of hidden pairs before it computes a tile: everything, if lengths and the band
 * decide. A mask mod is evaluated for each pair of a tile; before that, the kernel knows only the causal
 * band, nothing, or from a block mask which tiles are hidden.
 */
export type KnownMask = 'everything' | 'causal' | 'nothing' | 'blocks';

/**
 * Classifies the tiles of S × S scores, row by row; hidden scores are NaN.
 * @param tile rows and columns of a tile; the last ones are smaller where it does not divide S.
 */
export function maskTiles(
  scores: Float32Array,
  S: number,
  tile: number,
  known: KnownMask = 'everything',
): MaskedTile[][] {
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
      const isSkipped = known === 'causal' ? j > i : seen === 0 && known !== 'nothing';
      if (isSkipped) return 'skipped';
      return known === 'everything' && seen === all ? 'whole' : 'tested';
    }),
  );
}
