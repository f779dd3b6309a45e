import type { BackwardOperands } from '../attention/normalise.ts';
import type { GradientName } from '../attention/options.ts';
import type { BackwardProblem } from '../attention/problem.ts';
import { Tensor } from '../tensor/tensor.ts';
import { createHeadGradient } from './head-gradient.ts';
import { padded } from './kernels.ts';
import type { Machine } from './machine.ts';
import { typescriptKernels } from './matmul.ts';
import { toProbabilities, toScoreGradients } from './probabilities.ts';
import { createRowResult } from './results.ts';
import { createRowGradients } from './row-gradients.ts';
import { createCaptureGradients, createProductGradient, createScoreGradients } from './score-gradients.ts';
import { createScoreTiles } from './score-tiles.ts';
import { tileSizeOf } from './tile-size.ts';
import { addWeightedRows } from './weighted-sum.ts';

/** Gradients by name, those that were asked for; and those of the tensors that the score mod loads floats from. */
export interface BackwardResults {
  readonly gradients: Readonly<Partial<Record<GradientName, Tensor>>>;
  readonly dCaptures: Readonly<Record<string, Tensor>> | null;
}

/**
 * The gradients of a problem, tile by tile (FlashAttention-2, Dao 2023, algorithm 2, with queries outside): p is computed
 * again from lse, and one pass of five products gives dq of a tile of queries and adds to dk and dv of the head. All sums
 * are made in one fixed order, so that two runs agree bit by bit.
 */
export function backward(
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  { kernels = typescriptKernels, tiles: size = tileSizeOf(problem.forward) }: Machine = {},
): BackwardResults {
  const { forward, gradients: wanted } = problem;
  const { B, Hq, Hk, Hv, Skv, Dqk, Dv } = forward;
  const wants = (name: GradientName): boolean => wanted.includes(name);
  const hasProducts = forward.scoreMod !== null || forward.softcap !== null;
  const tiles = createScoreTiles(forward, operands, kernels, size, {
    kRows: wants('dq'),
    vRows: false,
    vColumns: true,
    products: hasProducts,
  });
  const { lengths, chain, scores: p, products, ld, q, k, v, keep } = tiles;
  const given = createRowGradients(problem, operands, lengths.q, kernels, size.rows);
  const { dO, lse, delta } = given;

  const ldQ = padded(Dqk);
  const ldV = padded(Dv);
  const dq = wants('dq') ? createRowResult(forward, forward.q, lengths.q) : null;
  const dk = wants('dk') ? createRowResult(forward, forward.k, lengths.kv) : null;
  const dv = wants('dv') ? createRowResult(forward, forward.v, lengths.kv) : null;
  const dqSums = kernels.allocate(dq ? size.rows * ldQ : 0);
  const dkHead = dk && createHeadGradient(kernels, dk, Skv, ldQ);
  const dvHead = dv && createHeadGradient(kernels, dv, Skv, ldV);
  const scoreGradients = createScoreGradients(forward, chain, wanted);
  const captureGradients = createCaptureGradients(forward, chain);
  const takers = [...Object.values(scoreGradients), ...(captureGradients ? [captureGradients] : [])];
  const toProductGradient = createProductGradient(forward, chain);
  const dsink = wants('dsink') ? new Float64Array(Hq) : null;
  const sinks = operands.sink?.toFloat64();

  const needsScores = dq !== null || dk !== null || takers.length > 0;
  const needsTiles = needsScores || dv !== null;
  const dp = kernels.allocate(needsScores ? size.rows * ld : 0);
  const kept = keep && dv ? kernels.allocate(size.rows * ld) : p;

  function addValueGradient(rows: number, j0: number, columns: number): void {
    if (!dvHead) return;
    if (keep) {
      kept.set(p);
      keep.drop(kept, ld, rows, columns);
    }
    const add = dO.isFinite() ? kernels.multiply : addWeightedRows;
    add(columns, ldV, rows, kept, 0, 1, ld, dO.data, 0, ldV, dvHead.sums, j0 * ldV, ldV, true);
  }

  function addScoreGradients(b: number, h: number, i0: number, rows: number, tile: number): void {
    const j0 = tile * size.columns;
    const columns = tiles.columns(tile);
    const at = v.columnsAt(tile);
    v.load(tile);
    kernels.multiply(rows, padded(columns), Dv, dO.data, 0, ldV, 1, v.columns, at, ld, dp, 0, ld, false);
    keep?.drop(dp, ld, rows, columns);
    toScoreGradients(dp, p, ld, rows, columns, delta);
    for (const { take } of takers) take(dp, products, ld, b, h, i0, rows, j0, columns);

    toProductGradient(dp, products, ld, b, h, i0, rows, j0, columns);
    if (dq) {
      const add = k.load(tile) ? kernels.multiply : addWeightedRows;
      add(rows, ldQ, columns, dp, 0, ld, 1, k.rows, j0 * ldQ, ldQ, dqSums, 0, ldQ, true);
    }
    if (dkHead) {
      const add = q.isFinite() ? kernels.multiply : addWeightedRows;
      add(columns, ldQ, rows, dp, 0, 1, ld, q.data, 0, ldQ, dkHead.sums, j0 * ldQ, ldQ, true);
    }
  }

  function addTile(b: number, h: number, i0: number, rows: number, tile: number): void {
    if (!tiles.compute(tile)) return;
    const columns = tiles.columns(tile);
    toProbabilities(p, ld, rows, columns, lse);
    keep?.load(b, h, i0, rows, tile * size.columns, columns);
    addValueGradient(rows, tile * size.columns, columns);
    if (needsScores) addScoreGradients(b, h, i0, rows, tile);
  }

  function addSinkGradient(h: number, rows: number): void {
    if (!dsink || !sinks) return;
    for (let i = 0; i < rows; i++) {
      if (lse[i] !== -Infinity) dsink[h] -= Math.exp(sinks[h] - lse[i]) * delta[i];
    }
  }

  for (let b = 0; b < B; b++) {
    const length = lengths.q.length(b);
    for (let h = 0; h < Hq; h++) {
      dkHead?.select(b, Math.floor(h / (Hq / Hk)), lengths.kv.length(b));
      dvHead?.select(b, Math.floor(h / (Hq / Hv)), lengths.kv.length(b));
      for (let i0 = 0; i0 < length; i0 += size.rows) {
        const rows = Math.min(size.rows, length - i0);
        given.load(b, h, i0, rows);
        addSinkGradient(h, rows);
        if (!needsTiles) continue;
        tiles.select(b, h, i0, rows);
        dqSums.fill(0);
        for (let t = tiles.firstTile(); t < tiles.endTile(); t++) addTile(b, h, i0, rows, t);
        dq?.store(b, h, i0, rows, dqSums, 0, ldQ);
      }
    }
  }
  dkHead?.finish();
  dvHead?.finish();

  const results: Readonly<Partial<Record<GradientName, Tensor | null>>> = {
    dq: dq?.tensor,
    dk: dk?.tensor,
    dv: dv?.tensor,
    dbias: scoreGradients.dbias?.result(),
    dsink: dsink && Tensor.from(dsink, [Hq]),
    dAlibi: scoreGradients.dAlibi?.result(),
  };
  return {
    gradients: Object.fromEntries(Object.entries(results).filter(([, t]) => t)),
    dCaptures: captureGradients?.results() ?? null,
  };
}
