import type { AttentionProblem, Operands } from '../../../../attention/problem/problem.ts';
import { loadGradients } from '../../../../expr/differentiate.ts';
import { compileRows, type EvaluateRow } from '../../../../expr/evaluate/rows.ts';
import { floatCaptures } from '../../../../expr/nodes/walk.ts';
import { allocateBy } from '../../../../tensor/allocate.ts';
import { contiguousStrides, elementCount } from '../../../../tensor/shape.ts';
import { Tensor } from '../../../../tensor/tensor.ts';
import type { ScoreTiles } from '../../tiles/score-tiles.ts';
import type { TileSize } from '../../tiles/tile-size.ts';
import type { ConsumeTile } from './score-gradients.ts';

/**
 * The gradients of the tensors that the score mod loads floats from, as f64 sums in the order of the tiles.
 */
export interface CaptureGradients {
  /** Adds a tile of ds = ∂L/∂(modified score). */
  readonly add: ConsumeTile;
  results(): Readonly<Record<string, Tensor>>;
}

/** A load in the score mod, with the sums of the tensor that it reads. */
interface Load {
  /** ∂ mod / ∂ the element that is loaded. */
  readonly partial: EvaluateRow;
  /** The index of this element, for each dimension. */
  readonly index: readonly EvaluateRow[];
  /** Row-major strides of the sums. */
  readonly strides: readonly number[];
  readonly sums: Float64Array;
}

/** Null without a score mod that loads floats. */
export function createCaptureGradients(
  { scoreMod, captures }: AttentionProblem,
  operands: Operands<Tensor>,
  { pairs, scoreMod: modified }: Pick<ScoreTiles, 'pairs' | 'scoreMod'>,
  { columns: T }: TileSize,
): CaptureGradients | null {
  const names = scoreMod ? floatCaptures(scoreMod) : [];
  if (!scoreMod || !modified || names.length === 0) return null;
  const { products } = modified;
  const rowsOf = (expr: typeof scoreMod): EvaluateRow => compileRows(expr, operands.captures ?? {}, T);
  const sums = Object.fromEntries(
    names.map(name => [name, allocateBy(n => new Float64Array(n), elementCount(captures[name].shape))]),
  );
  const loads = names.flatMap(name =>
    loadGradients(scoreMod, name).map(
      ({ partial, index }): Load => ({
        ...{ partial: rowsOf(partial), index: index.map(rowsOf) },
        ...{ strides: contiguousStrides(captures[name].shape), sums: sums[name] },
      }),
    ),
  );
  const elements = new Float64Array(T);
  return {
    add(ds, ld, tile) {
      pairs.visit(tile, products, ld, row => {
        const { at, count } = row;
        for (const { partial, index, strides, sums } of loads) {
          const slope = partial(row, n => ds[at + n] !== 0);
          // Behind a condition that is false, the index may be outside the tensor.
          const counts = (n: number): boolean => ds[at + n] !== 0 && slope[n] !== 0;
          elements.fill(0);
          for (const [d, evaluate] of index.entries()) {
            const along = evaluate(row, counts);
            for (let n = 0; n < count; n++) elements[n] += along[n] * strides[d];
          }
          for (let n = 0; n < count; n++) if (counts(n)) sums[elements[n]] += ds[at + n] * slope[n];
        }
      });
    },
    results: () =>
      Object.fromEntries(
        names.map(name => {
          const { shape, dtype } = captures[name];
          return [name, Tensor.from(sums[name], shape, { dtype })];
        }),
      ),
  };
}
