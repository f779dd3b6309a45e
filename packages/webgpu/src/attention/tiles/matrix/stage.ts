import { repeat } from '../../../codegen/text.ts';
import type { TileOperand } from '../tile-backend.ts';
import { heldRows, note, padding, poolOf, poolPitch, streamedRows, width } from './memory.ts';
import { lanes, type MatrixTileShape } from './shape.ts';

/** Rows that lanes together copy into the pool of an operand. */
export interface Staged {
  readonly operand: TileOperand;
  /** WGSL condition under which lanes look for a NaN or infinity in these rows and note it. */
  readonly nonFiniteGuard?: string | undefined;
}

/**
 * Statements that copy the streamed rows of a tile into their pools, once all lanes have finished with the
 * previous rows. All reads come before all stores and before the barrier, so that rows arrive while the
 * matrices of the previous tile are still being multiplied.
 */
export const stageStreamed = (tile: MatrixTileShape, all: readonly Staged[]): string =>
  `${all.map(staged => read(tile, staged)).join('\n')}
    workgroupBarrier();
    ${all.map(staged => store(tile, staged)).join('\n')}
    workgroupBarrier();`;

const turnsOf = ({ subgroups }: MatrixTileShape, D: number): number =>
  Math.ceil((streamedRows * width(D)) / (lanes * subgroups));

const fetched = ({ operand }: Staged, turn: number): string => `${operand.name}_fetched${turn}`;

/** The row, and the vec4 of the row, that a lane reads in a turn. */
const placeOf = (
  { subgroups }: MatrixTileShape,
  D: number,
  turn: number,
): { readonly row: string; readonly vector: string } => {
  const n = `(lane + ${turn * lanes * subgroups}u)`;
  return { row: `${n} / ${width(D)}u`, vector: `${n} % ${width(D)}u` };
};

/** WGSL expression of four channels, in the component type of the matrices. */
const load = ({ matrix }: MatrixTileShape, name: string, row: string, d: string): string =>
  matrix.component === 'f16' ? `${name}_load4_f16(${row}, ${d})` : `${name}_load4(${row}, ${d})`;

/**
 * Has no branches, so that no read waits for another: for rows and channels beyond the end, lanes read the
 * last ones.
 */
function read(tile: MatrixTileShape, staged: Staged): string {
  const { name, row, first, end, channels, D } = staged.operand;
  const type = `vec4<${tile.matrix.component}>`;
  return `let ${name}_end = max(${end}, 1u) - 1u;
    let ${name}_last = (${channels} - 1u) & 0xfffffffcu;
    ${repeat(turnsOf(tile, D), turn => {
      const place = placeOf(tile, D, turn);
      const s = `${first} + ${place.row}`;
      const d = `4u * (${place.vector})`;
      const value = load(tile, name, row(`min(${s}, ${name}_end)`), `min(${d}, ${name}_last)`);
      return `let ${fetched(staged, turn)} = select(${type}(), ${value}, ${s} <= ${name}_end && ${d} <= ${name}_last);`;
    })}`;
}

function store(tile: MatrixTileShape, staged: Staged): string {
  const { operand, nonFiniteGuard } = staged;
  const { D } = operand;
  const turns = turnsOf(tile, D);
  const isWhole = (streamedRows * width(D)) % (lanes * tile.subgroups) === 0;
  const noticed = repeat(turns, turn => `has_non_finite(vec4f(${fetched(staged, turn)}))`, ' || ');
  return `${
    nonFiniteGuard
      ? `if (${nonFiniteGuard}) {
      if (${noticed}) {
        atomicOr(&notes, ${note.nonFinite}u);
      }
    }
    `
      : ''
  }${repeat(turns, turn => {
    const { row, vector } = placeOf(tile, D, turn);
    const stored = `${poolOf(operand)}[${row} * ${poolPitch(tile, D)}u + ${vector}] = ${fetched(staged, turn)};`;
    return isWhole ? stored : `if (${row} < ${streamedRows}u) {\n      ${stored}\n    }`;
  })}`;
}

/** A range of vec4s of each row, and the pool that they pass through, packed densely. */
interface Passage {
  readonly pool: string;
  readonly first: number;
  readonly vectors: number;
}

/** Statements that copy held rows to a place from which matrices can be loaded. */
export function stageHeld(
  tile: MatrixTileShape,
  { name, row, first, end, channels }: TileOperand,
  passage: Passage,
): string {
  const { subgroups, matrix } = tile;
  const { pool, vectors } = passage;
  return `workgroupBarrier();
    for (var n = lane; n < ${heldRows * subgroups * vectors}u; n += ${lanes * subgroups}u) {
      let s = ${first} + n / ${vectors}u;
      let d = 4u * (${passage.first}u + n % ${vectors}u);
      var x = vec4<${matrix.component}>();
      if (s < ${end} && d < ${channels}) {
        x = ${load(tile, name, row('s'), 'd')};
      }
      ${pool}[n / ${vectors}u * ${vectors + padding(tile)}u + n % ${vectors}u] = x;
    }
    workgroupBarrier();`;
}
