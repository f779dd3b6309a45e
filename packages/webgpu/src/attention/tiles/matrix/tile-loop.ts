import { notDeferred, tilesPerCheck } from '../scores/deferred-rescaling.ts';
import type { AccumulateGemm, ScoreGemm } from '../tile-backend.ts';
import { declareFlags, slowPath } from './accumulate-gemm.ts';
import type { MatrixTile } from './shape.ts';
import { streamsOf } from './stage.ts';

/**
 * See `TileResults.loop`. A tile's statements may leave the loop over tiles: see `accumulate`. Then the slow
 * path runs, and the loop continues with the next tile.
 */
export function loopOverTiles(
  tile: MatrixTile,
  plain: string,
  gemms: readonly ScoreGemm[],
  sums: readonly AccumulateGemm[],
  visible: string,
): string {
  const parts = /^for \(var (\w+) = (.+?); \1 < (.+?); \1 \+= (.+?)\) \{/.exec(plain);
  const full = /let full_tile = (.+?);/.exec(plain);
  if (!parts || !full) throw new Error(`not a loop over tiles: ${plain.slice(0, 99)}`);
  const [head, place, start, end, step] = parts;
  const loop: TileLoop = {
    ...{ place, end, step, body: plain.slice(head.length), full: full[1] },
    slowPath: `${slowPath(tile, sums)}
      ${place} += ${step};`,
  };
  const { declared, start: startStreams } = streamsOf(tile, gemms, sums);
  const isDeferred = sums.some(({ lazy }) => lazy);
  return `var ${place} = ${start};
  ${declareFlags(sums)}
  ${declared}
  ${isDeferred ? `var deferred_from = ${notDeferred};\n  var again_until = 0u;` : ''}
  loop {
    if (${place} >= ${end}) {
      break;
    }
    ${visible === '' ? startStreams : ''}
    ${isDeferred ? run(tile, loop) : allTiles(loop)}
  }`;
}

/** A loop over tiles. */
interface TileLoop {
  /** The variable, the place at which the loop ends, and the length of a tile. */
  readonly place: string;
  readonly end: string;
  readonly step: string;
  /** The statements of a tile, and the end of the loop. */
  readonly body: string;
  /** The WGSL condition in `body` that a tile is full. */
  readonly full: string;
  /** Statements that compute a tile on the slow path. */
  readonly slowPath: string;
}

const allTiles = ({
  place,
  end,
  step,
  body,
  slowPath,
}: TileLoop): string => `for (; ${place} < ${end}; ${place} += ${step}) {${body}
    if (${place} < ${end}) {
      ${slowPath}
    }`;

/**
 * One run of the loop over tiles: a tile that is not full; the tiles that are computed again for deferred
 * rows; or some full tiles, after which the next run computes them again if a row is deferred.
 */
function run(tile: MatrixTile, { place, end, step, body, full, slowPath }: TileLoop): string {
  const isFull = (at: string): string => full.replaceAll(place, at);
  return `flags = 0u;
    let run = ${place};
    var run_end = max(run + ${step}, again_until);
    let is_full = run >= again_until && ${isFull('run')};
    if (is_full) {
      deferred_from = ${notDeferred};
      let most = min(run + ${tilesPerCheck}u * ${step}, ${end});
      while (run_end < most && ${isFull('run_end')}) {
        run_end += ${step};
      }
    }
    for (; ${place} < run_end; ${place} += ${step}) {${body.replace(full, 'is_full')}
    if (flags != 0u) {
      ${slowPath}
    }
    if (is_full) {
      ${tile.instructions.combineFlags(`select(1u, 0u, deferred_from == ${notDeferred})`)}
      if (flags != 0u) {
        again_until = ${place};
        ${place} = run;
      }
    }`;
}
