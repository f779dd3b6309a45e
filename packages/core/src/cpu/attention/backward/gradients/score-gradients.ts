import { broadcastIndex } from '../../../../attention/host/result-index.ts';
import type { AttentionProblem } from '../../../../attention/problem/problem.ts';
import type { ScoreChain } from '../../../../score/score-chain.ts';
import { allocateBy } from '../../../../tensor/allocate.ts';
import { elementCount } from '../../../../tensor/shape.ts';
import { Tensor } from '../../../../tensor/tensor.ts';
import type { ScoreTile } from '../../tiles/score-tile.ts';
import type { BackwardSums } from '../sums.ts';

/**
 * Processes one tile of ds = ∂L/∂(final score): row i and key j of the tile at `ds[i·ld + j]`, 0 for pairs
 * that are not seen. `products` holds the scaled q·k of the same pairs if the chain has derivatives: with a
 * score mod, or with a softcap that the kernels do not compute.
 */
export type ConsumeTile = (ds: Float32Array, products: Float32Array, ld: number, tile: ScoreTile) => void;

/** The wanted gradients that are sums of ds, in f64 and in the order of the tiles. */
export function createScoreGradients(
  problem: AttentionProblem,
  chain: ScoreChain,
  { dbias, dAlibi }: Pick<BackwardSums, 'dbias' | 'dAlibi'>,
): readonly ConsumeTile[] {
  return [
    ...(dbias && problem.bias ? [biasGradient(problem.bias, dbias)] : []),
    ...(dAlibi ? [alibiGradient(problem.Hq, chain, dAlibi)] : []),
  ];
}

/** Sums ds over the dimensions along which the bias is broadcast. */
function biasGradient(bias: NonNullable<AttentionProblem['bias']>, sums: Float64Array): ConsumeTile {
  const indexOf = broadcastIndex(bias);
  const step = (bias.source.at(-1) ?? 1) > 1 ? 1 : 0;
  return (ds, _products, ld, { b, h, i0, rows, j0, columns }) => {
    for (let i = 0; i < rows; i++) {
      const at = indexOf(b, h, i0 + i, j0);
      for (let j = 0; j < columns; j++) sums[at + j * step] += ds[i * ld + j];
    }
  };
}

/** −Σ |i + off − j| ds for each head of each sequence. */
function alibiGradient(Hq: number, { distance }: ScoreChain, sums: Float64Array): ConsumeTile {
  return (ds, _products, ld, { b, h, i0, rows, j0, columns }) => {
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < columns; j++) sums[b * Hq + h] -= distance(b, i0 + i, j0 + j) * ds[i * ld + j];
    }
  };
}

/** The gradients of the tensors that the score mod loads floats from, by name. */
export function createCaptureGradients(
  { captures }: AttentionProblem,
  chain: ScoreChain,
): { readonly add: ConsumeTile; results(): Readonly<Record<string, Tensor>> } | null {
  const names = chain.differentiableCaptures;
  if (names.length === 0) return null;
  const sums = Object.fromEntries(
    names.map(name => [name, allocateBy(n => new Float64Array(n), elementCount(captures[name].shape))]),
  );
  return {
    add(ds, products, ld, { b, h, i0, rows, j0, columns }) {
      for (let i = 0; i < rows; i++) {
        for (let j = 0; j < columns; j++) {
          const at = i * ld + j;
          if (ds[at] === 0) continue;
          for (const { name, index, value } of chain.captureDerivatives(products[at], b, h, i0 + i, j0 + j)) {
            sums[name][index] += ds[at] * value;
          }
        }
      }
    },
    results: () =>
      Object.fromEntries(
        names.map(name => [
          name,
          Tensor.from(sums[name], captures[name].shape, { dtype: captures[name].dtype }),
        ]),
      ),
  };
}

/** Turns the ds of a tile into ∂L/∂(scale·q·k), in place; null if that equals ds. */
export function createProductGradient(
  { scoreMod, softcap }: AttentionProblem,
  { derivative }: ScoreChain,
): ConsumeTile | null {
  if (scoreMod === null && softcap === null) return null;
  return (ds, products, ld, { b, h, i0, rows, j0, columns }) => {
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < columns; j++) {
        const at = i * ld + j;
        if (ds[at] !== 0) ds[at] *= derivative(products[at], b, h, i0 + i, j0 + j);
      }
    }
  };
}
