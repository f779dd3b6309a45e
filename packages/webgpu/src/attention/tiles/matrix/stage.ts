import { lanes, rowPadding } from '../../../codegen/matrices/subgroup-lanes.ts';
import { repeat } from '../../../codegen/text.ts';
import { type AccumulateGemm, rowsRead, type ScoreGemm, type TileOperand } from '../interface/tile-gemms.ts';
import { streamedOperands } from '../tile-operands.ts';
import {
  block,
  flag,
  heldRows,
  stagedArray,
  stagedPitch,
  streamedRows,
  weightsSize,
  width,
} from './memory.ts';
import type { MatrixTileShape } from './shape.ts';

const turnsOf = (tile: MatrixTileShape, D: number): number =>
  Math.ceil((streamedRows(tile) * width(D)) / (lanes * tile.subgroups));

/** Statements that stream the rows of a kernel. */
export interface Streams {
  /** Declares a lane's fetched vec4s. */
  readonly declared: string;
  /**
   * Prepares the tile at `first`, unless it follows the last tile: fetches its rows, and stores the rows that
   * products read.
   */
  readonly start: string;
  /**
   * Before the products of a tile. If products and sums read a common operand, stores the rows of the tile
   * once all lanes have finished with the previous tile, and fetches the rows of the next tile, which arrive
   * while this tile is computed.
   */
  readonly beforeProducts: string;
  /**
   * After the products of a tile, and before a barrier and the sums. If products and sums read no common
   * operand, stores the rows for the sums of this tile and for the products of the next tile, which saves two
   * barriers per tile.
   */
  readonly beforeSums: string;
}

export function streamsOf(
  tile: MatrixTileShape,
  gemms: readonly ScoreGemm[],
  sums: readonly AccumulateGemm[],
): Streams {
  const operands = streamedOperands(
    tile,
    gemms,
    sums.map(({ operand }) => operand),
  );
  const [{ first }] = operands;
  const isSummed = ({ name }: TileOperand): boolean => sums.some(({ operand }) => operand.name === name);
  const summed = operands.filter(isSummed);
  const products = operands.filter(operand => !isSummed(operand));
  const isSeparate = !summed.some(({ name }) => rowsRead(gemms).has(name));
  /** Fetches the rows of operands some tiles later. */
  const fetchAll = (own: readonly TileOperand[], tiles: number): string =>
    own
      .map(operand =>
        fetch(tile, {
          ...operand,
          first: tiles ? `${first} + ${tiles * streamedRows(tile)}u` : first,
        }),
      )
      .join('\n    ');
  const storeAll = (own: readonly TileOperand[]): string =>
    own.map(operand => store(tile, operand, sums)).join('\n    ');
  return {
    declared: `${operands
      .flatMap(operand =>
        Array.from(
          { length: turnsOf(tile, operand.D) },
          (_, turn) => `var ${fetched(operand, turn)} = vec4<${tile.matrix.component}>();`,
        ),
      )
      .join('\n  ')}
  var streamed_from = 0xffffffffu;`,
    start: `if (streamed_from != ${first}) {
      ${
        isSeparate
          ? `${fetchAll(products, 0)}
      ${storeAll(products)}
      ${fetchAll(summed, 0)}
      ${fetchAll(products, 1)}
      workgroupBarrier();`
          : fetchAll(operands, 0)
      }
    }`,
    beforeProducts: `streamed_from = ${first} + ${streamedRows(tile)}u;${
      isSeparate
        ? ''
        : `
    workgroupBarrier();
    ${storeAll(operands)}
    workgroupBarrier();
    ${fetchAll(operands, 1)}`
    }`,
    beforeSums: isSeparate
      ? `${storeAll(operands)}
    ${fetchAll(summed, 1)}
    ${fetchAll(products, 2)}`
      : '',
  };
}

const fetched = ({ name }: TileOperand, turn: number): string => `${name}_fetched${turn}`;

/**
 * The row, and the vec4 of the row, that a lane reads in a turn. If the lanes are a multiple of the vec4s of
 * a row, a lane reads the same vec4 in all turns.
 */
const vectorOfTurn = (
  { subgroups }: MatrixTileShape,
  D: number,
  turn: number,
): { readonly row: string; readonly vector: string } => {
  const before = turn * lanes * subgroups;
  return (lanes * subgroups) % width(D) === 0
    ? { row: `(lane / ${width(D)}u + ${before / width(D)}u)`, vector: `lane % ${width(D)}u` }
    : { row: `(lane + ${before}u) / ${width(D)}u`, vector: `(lane + ${before}u) % ${width(D)}u` };
};

/** WGSL expression of four channels, in the component type of the matrices. */
const load = ({ matrix }: MatrixTileShape, name: string, row: string, d: string): string =>
  matrix.component === 'f16' ? `${name}_load4_f16(${row}, ${d})` : `${name}_load4(${row}, ${d})`;

/**
 * Statements that fetch the streamed rows from `first` on. They have no branches, so that no read waits for
 * another. Rows beyond the end, which have weight 0, are replaced by the last row, and channels beyond the
 * end by 0.
 */
function fetch(tile: MatrixTileShape, operand: TileOperand): string {
  const { name, row, first, end, channels, D } = operand;
  const type = `vec4<${tile.matrix.component}>`;
  const isWhole = D % block === 0;
  return `{
    let ${name}_end = max(${end}, 1u) - 1u;${isWhole ? '' : `\n    let ${name}_last = (${channels} - 1u) & 0xfffffffcu;`}
    ${repeat(turnsOf(tile, D), turn => {
      const own = vectorOfTurn(tile, D, turn);
      const s = `${first} + ${own.row}`;
      const d = `4u * (${own.vector})`;
      const value = load(tile, name, row(`min(${s}, ${name}_end)`), isWhole ? d : `min(${d}, ${name}_last)`);
      return `${fetched(operand, turn)} = ${isWhole ? value : `select(${type}(), ${value}, ${d} <= ${name}_last)`};`;
    })}
    }`;
}

function store(tile: MatrixTileShape, operand: TileOperand, sums: readonly AccumulateGemm[]): string {
  const { name, D } = operand;
  const nonFiniteGuard = sums.find(sum => sum.operand.name === name)?.nonFiniteGuard;
  const turns = turnsOf(tile, D);
  const isWhole = (streamedRows(tile) * width(D)) % (lanes * tile.subgroups) === 0;
  const isRow = (turn: number): string => `${vectorOfTurn(tile, D, turn).row} < ${streamedRows(tile)}u`;
  const isNonFinite = repeat(
    turns,
    turn => `(${isWhole ? '' : `${isRow(turn)} && `}has_non_finite(vec4f(${fetched(operand, turn)})))`,
    ' || ',
  );
  return `${
    nonFiniteGuard
      ? `if (${nonFiniteGuard}) {
      if (${isNonFinite}) {
        own_flags |= ${flag.nonFinite}u;
      }
    }
    `
      : ''
  }${repeat(turns, turn => {
    const { row, vector } = vectorOfTurn(tile, D, turn);
    const stored = `${stagedArray(operand)}[${row} * ${stagedPitch(tile, D)}u + ${vector}] = ${fetched(operand, turn)};`;
    return isWhole ? stored : `if (${isRow(turn)}) {\n      ${stored}\n    }`;
  })}`;
}

/** A range of vec4s of each row. */
interface Channels {
  readonly first: number;
  readonly vectors: number;
}

/**
 * Statements that copy channels of the held rows to `weights`, from which matrices can be loaded. The rows of
 * a subgroup are in its own part, packed densely.
 */
export function stageHeld(
  tile: MatrixTileShape,
  { name, row, first, end, channels }: TileOperand,
  part: Channels,
): string {
  const { subgroups, matrix } = tile;
  const { vectors } = part;
  const rows = heldRows(tile);
  return `workgroupBarrier();
    for (var n = lane; n < ${rows * subgroups * vectors}u; n += ${lanes * subgroups}u) {
      let r = n / ${vectors}u;
      let s = ${first} + r;
      let d = 4u * (${part.first}u + n % ${vectors}u);
      var x = vec4<${matrix.component}>();
      if (s < ${end} && d < ${channels}) {
        x = ${load(tile, name, row('s'), 'd')};
      }
      weights[r / ${rows}u * ${weightsSize(tile)}u + r % ${rows}u * ${vectors + rowPadding(tile.matrix)}u + n % ${vectors}u] = x;
    }
    workgroupBarrier();`;
}
