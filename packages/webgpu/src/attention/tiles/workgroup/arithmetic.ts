import type { ShaderPart } from '../../../codegen/shader-part.ts';
import type { WorkgroupTile } from '../tile.ts';
import type { TileChoice } from '../tile-choice.ts';

/**
 * How a tile through workgroup memory multiplies, where not simply in f32. `look` may set `garbage`: from that chunk on the workgroup multiplies in
 * f32.
 */
export interface TileArithmetic {
  readonly part: ShaderPart;
  /** Four weights in workgroup memory: their WGSL type, what is stored for a vec4f and read as one, and the largest weight there may be. */
  readonly weight: {
    readonly type: string;
    readonly bytes: number;
    readonly max: number;
    readonly stored: (value: string) => string;
    readonly read: (at: string) => string;
  };
  /** Statements that look at `x` on its way to the pool, before products and before results. */
  readonly look: { readonly products: string; readonly results: string };
  /** Statements that add the products of a chunk to the sums `SUM0`, … */
  products(tile: WorkgroupTile, sum: string): string;
  /** Statements that add the weighted rows of a chunk to the sums. */
  results(part: WeightedChunk): string;
  /** Why a tile cannot multiply so, or nothing. */
  reason(role: keyof TileChoice, tile: WorkgroupTile): string | null;
}

/** Some rows in the pool, that are weighted and added up. */
export interface WeightedChunk {
  /** How many. */
  readonly chunk: number;
  /** Statements that read the weights of row k, and this lane's vectors of it, as they are in workgroup memory. */
  readonly read: string;
  /** Text for each sum of a row r and vector n: its name, the weight, and what is weighted. */
  perSum(
    text: (of: {
      readonly r: number;
      readonly n: number;
      readonly sum: string;
      readonly w: string;
      readonly x: string;
    }) => string,
  ): string;
}
