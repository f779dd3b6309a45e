import { lowest } from '../../../codegen/formats/float-bits.ts';
import type { ShaderPart } from '../../../codegen/shader-part.ts';
import { repeat } from '../../../codegen/text.ts';
import type { LazyRescaling } from '../../tiles/scores/lazy-rescaling.ts';
import type { Tile } from '../../tiles/tile.ts';
import type { QueryRows } from './query-rows.ts';

/**
 * One step of online softmax (Milakov and Gimelshein 2018) over the lane's scores `s0`, …: updates each row's
 * maximum `m0`, … and sum `l0`, … of this lane's keys, and sets the probabilities `p0`, … and the factors
 * `rescale0`, … of earlier sums.
 *
 *     m' = max(m, rowmax(S))      P = e^(S − m')      l' = e^(m − m')·l + rowsum(P)
 *
 * @param lazy lets m' stay below a row's largest score.
 */
export function onlineSoftmax(
  { grid, backend }: Tile,
  { declareRow }: QueryRows,
  lazy: LazyRescaling | null,
): string {
  const { rows, cols } = grid;
  const { scoreVectors: vectors } = backend;
  const scored = (b: number): string => vectors.of('scored', b);
  const step = (fullTile: string): string => `${vectors.declare(['s'], ['scored'], 'Score4')}
    ${vectors.each(
      ({ row, key, of }) => `${declareRow(row)}
    ${of('scored')} = score4(seq, head, query, ${key}, ${of('s')}, ${fullTile});`,
    )}

    // m' = max(m, rowmax(S))
    ${backend.reduceRows({
      name: lazy ? 'm_seen' : 'm_new',
      own: r => `${'max('.repeat(cols)}m${r}${repeat(cols, c => `, largest(${scored(r * cols + c)}))`, '')}`,
      join: (a, b) => `max(${a}, ${b})`,
      identity: lowest,
      afterBarrier: true,
    })}
    ${lazy ? repeat(rows, r => lazy.maximum(r, fullTile)) : ''}

    // P = e^(S − m')
    ${repeat(
      rows * cols,
      b =>
        `p${b} = select(vec4f(), exp(${scored(b)}.value - ${lazy ? 'shift' : 'm_new'}${Math.floor(b / cols)}), ${scored(b)}.visible);`,
    )}

    // l' = e^(m − m') · l + rowsum(P)
    ${repeat(
      rows,
      r => `rescale${r} = ${lazy?.factor(r, fullTile) ?? `exp(m${r} - m_new${r})`};
    m${r} = m_new${r};
    l${r} = l${r} * rescale${r} + ${repeat(cols, c => `sum4(p${r * cols + c})`, ' + ')};`,
    )}`;
  return `${repeat(rows * cols, b => `var p${b} = vec4f();`)}
    ${repeat(rows, r => `var rescale${r} = 1.0;`)}
    ${backend.specialised(step)}`;
}

/** `largest(scores) -> f32`, for which a masked score is the lowest number, and `sum4(x) -> f32`. */
export const onlineSoftmaxPart: ShaderPart = {
  code: `fn largest(s: Score4) -> f32 {
  let x = select(vec4f(${lowest}), s.value, s.visible);
  return max(max(x.x, x.y), max(x.z, x.w));
}

fn sum4(x: vec4f) -> f32 {
  return dot(x, vec4f(1.0));
}`,
};
