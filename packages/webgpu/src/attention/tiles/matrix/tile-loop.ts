import type { AccumulateGemm, ScoreGemm } from '../interface/tile-gemms.ts';
import type { TileLoop } from '../interface/tile-results.ts';
import { notDeferred, tilesPerCheck } from '../scores/deferred-rescaling.ts';
import { declareFlags, slowPath } from './accumulate-gemm.ts';
import type { MatrixTile } from './shape.ts';
import { streamsOf } from './stage.ts';

/**
 * See `TileResults.loop`. A tile's statements may leave the loop over tiles: see `accumulate`. Then the slow
 * path runs, and the loop continues with the next tile.
 */
export function loopOverTiles(
  tile: MatrixTile,
  loop: TileLoop,
  gemms: readonly ScoreGemm[],
  sums: readonly AccumulateGemm[],
  visible: string,
): string {
  const { variable, range, size } = loop;
  const slow = `${slowPath(tile, sums)}
      ${variable} += ${size}u;`;
  const { declared, start: startStreams } = streamsOf(tile, gemms, sums);
  const isDeferred = sums.some(({ lazy }) => lazy);
  return `var ${variable} = ${range}.x / ${size}u * ${size}u;
  ${declareFlags(sums)}
  ${declared}
  ${isDeferred ? `var deferred_from = ${notDeferred};\n  var again_until = 0u;` : ''}
  loop {
    if (${variable} >= ${range}.y) {
      break;
    }
    ${visible === '' ? startStreams : ''}
    ${isDeferred ? run(tile, loop, slow) : allTiles(loop, slow)}
  }`;
}

/** All tiles up to the first that needs the slow path, which follows. */
const allTiles = ({ variable, range, size, isFull, body }: TileLoop, slow: string): string =>
  `for (; ${variable} < ${range}.y; ${variable} += ${size}u) {${body(isFull(variable))}
    }
    if (${variable} < ${range}.y) {
      ${slow}
    }`;

/**
 * One run of the loop over tiles: a tile that is not full; the tiles that are computed again for deferred
 * rows; or some full tiles, after which the next run computes them again if a row is deferred.
 */
function run(tile: MatrixTile, { variable, range, size, isFull, body }: TileLoop, slow: string): string {
  return `flags = 0u;
    let run = ${variable};
    var run_end = max(run + ${size}u, again_until);
    let is_full = run >= again_until && ${isFull('run')};
    if (is_full) {
      deferred_from = ${notDeferred};
      let most = min(run + ${tilesPerCheck}u * ${size}u, ${range}.y);
      while (run_end < most && ${isFull('run_end')}) {
        run_end += ${size}u;
      }
    }
    for (; ${variable} < run_end; ${variable} += ${size}u) {${body('is_full')}
    }
    if (flags != 0u) {
      ${slow}
    }
    if (is_full) {
      ${tile.instructions.combineFlags(`select(1u, 0u, deferred_from == ${notDeferred})`)}
      if (flags != 0u) {
        again_until = ${variable};
        ${variable} = run;
      }
    }`;
}
