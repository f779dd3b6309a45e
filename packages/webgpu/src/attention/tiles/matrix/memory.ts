import type { ShaderPart } from '../../../codegen/shader-part.ts';
import type { SubgroupMatrixConfig } from '../../../device/subgroup-matrix-configs.ts';
import { bytesOfVariables, type MatrixTile } from '../tile.ts';
import type { Product, TileOperand } from '../tile-backend.ts';
import type { MatrixSpelling } from './spelling.ts';

/** Lanes of a subgroup with matrices. */
export const lanes: number = 32;
/** Rows that a subgroup keeps, and rows of the other side that it meets at a time. */
export const kept: number = 16;
export const met: number = 32;

/** What a tile is made of: each of M, N and K divides 16. */
export interface MatrixTileShape {
  readonly own: MatrixTile['own'];
  /** Subgroups of a workgroup. */
  readonly subgroups: number;
  readonly matrix: SubgroupMatrixConfig;
  /** Whether kernels ask for subgroups of 32 lanes, where a device has others, too (feature `subgroup-size-control`). Default false. */
  readonly pinned?: boolean;
  /** How operations on matrices are written. Default: as Dawn has them. */
  readonly spelling?: MatrixSpelling;
}

type Side = MatrixTile['own'];

/** Channels of a row in whole blocks of 16, which every shape of matrix divides. */
export const block: number = 16;
export const blocks = (D: number): number => Math.ceil(D / block);

/*
 * What matrices are loaded from and stored to are arrays of vec4s: where matrices lie is told in vec4s, and so is how far apart their rows are. Of
 * an array of numbers every single one that a lane reads or writes is an access of its own, with bounds that are checked.
 */

/** vec4s in 16 bytes, by which rows are padded, so that they start in different banks. */
export const padding = ({ matrix }: MatrixTileShape): number => (matrix.component === 'f16' ? 2 : 1);

/** vec4s of a row of so many channels. */
export const width = (D: number): number => (block * blocks(D)) / 4;

/** vec4s from one row to the next: of a pool, of scores or 16 channels of results in `scratch`, of weights. */
export const poolPitch = (tile: MatrixTileShape, D: number): number => width(D) + padding(tile);
export const scratchPitch = ({ own }: MatrixTileShape): number => scoreColumns[own] / 4 + 1;
export const weightsPitch = (tile: MatrixTileShape): number => scoreColumns[tile.own] / 4 + padding(tile);

/** Rows and columns of a subgroup's scores, of which one side is kept and the other is met. */
const scoreRows: Readonly<Record<Side, number>> = { queries: kept, keys: met };
const scoreColumns: Readonly<Record<Side, number>> = { queries: met, keys: kept };

/** vec4s of a subgroup's part of `scratch`, of one matrix of products or of 16 channels of its results; and of its part of `weights`, of one sum. */
export const scratchSize = (tile: MatrixTileShape): number => scoreRows[tile.own] * scratchPitch(tile);
export const weightsSize = (tile: MatrixTileShape): number => scoreRows[tile.own] * weightsPitch(tile);

/** WGSL: the first of a lane's four vec4s of scores, or weights, among those of its subgroup, with so many vec4s from one row to the next. */
export const firstOfLane = ({ own }: MatrixTileShape, pitch: number): string =>
  own === 'queries' ? `subgroup_lane / 2u * ${pitch}u + tx * 4u` : `subgroup_lane * ${pitch}u`;

/** vec4s of a pool: the rows that are met, and before that at least one block of those that are kept. */
export const poolSize = (tile: MatrixTileShape, D: number): number =>
  Math.max(met * poolPitch(tile, D), kept * tile.subgroups * poolPitch(tile, block));

/** The pool of an operand of which subgroups meet rows. */
export const poolOf = ({ name }: Pick<TileOperand, 'name'>): string => `${name}_pool`;

/** Of a product, whose rows subgroups keep, and whose they meet. */
export const sidesOf = (
  { own }: Pick<MatrixTileShape, 'own'>,
  { a, b }: Product,
): { readonly keeps: TileOperand; readonly meets: TileOperand } =>
  own === 'queries' ? { keeps: a, meets: b } : { keeps: b, meets: a };

/** Operands of which rows are met: by products, or to be summed up. */
export function operandsMet(
  tile: Pick<MatrixTileShape, 'own'>,
  all: readonly Product[],
  summed: readonly TileOperand[],
): readonly TileOperand[] {
  const operands = [...all.map(product => sidesOf(tile, product).meets), ...summed];
  return [...new Map(operands.map(operand => [operand.name, operand])).values()];
}

/** What kernels hold in workgroup memory: head sizes of what they meet, matrices of products, and sums. */
interface Held {
  readonly met: readonly number[];
  readonly products: number;
  readonly sums: number;
}

/** Bytes of it. */
export function memoryOf(tile: MatrixTileShape, held: Held): number {
  const { subgroups, matrix } = tile;
  const bytes = matrix.component === 'f16' ? 8 : 16;
  return bytesOfVariables([
    ...held.met.map(D => bytes * poolSize(tile, D)),
    16 * subgroups * scratchSize(tile) * held.products,
    bytes * subgroups * weightsSize(tile) * held.sums,
    4,
  ]);
}

/** `scratch` takes scores, and results in parts; `notes` are what lanes tell each other of a tile. */
export function declarations(
  tile: MatrixTileShape,
  all: readonly Product[],
  summed: readonly TileOperand[],
): ShaderPart {
  const { subgroups, matrix } = tile;
  const vector = `vec4<${matrix.component}>`;
  return {
    code: `${operandsMet(tile, all, summed)
      .map(operand => `var<workgroup> ${poolOf(operand)}: array<${vector}, ${poolSize(tile, operand.D)}>;`)
      .join('\n')}
var<workgroup> scratch: array<vec4f, ${subgroups * scratchSize(tile) * all.length}>;
var<workgroup> weights: array<${vector}, ${subgroups * weightsSize(tile) * summed.length}>;
var<workgroup> notes: atomic<u32>;`,
  };
}

/** In `notes`: rows of a tile that are summed up hold garbage; some results are to be rescaled. */
export const note = { garbage: 1, rescale: 2 } as const;
