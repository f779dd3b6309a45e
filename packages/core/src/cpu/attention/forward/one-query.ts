import { createAddressing } from '../../../attention/host/addressing.ts';
import { createKeyRanges } from '../../../attention/host/key-ranges.ts';
import { createLengths } from '../../../attention/host/sequences.ts';
import type { AttentionProblem, OperandDesc, Operands } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { LineProductKernels } from '../../kernels/interface/matrix-kernels.ts';
import { padded, STRIP } from '../../kernels/interface/panel.ts';
import { createLoadLine } from '../../operands/load-line.ts';
import { createRowResult, createStatistic } from '../../operands/row-result.ts';
import { createStoredLines, storageCodes } from '../../operands/stored-lines.ts';
import type { PassContext } from '../pass-context.ts';
import { type Claim, forwardTasks } from '../tasks.ts';
import { tileSizeOf } from '../tiles/tile-size.ts';
import type { ForwardResults } from './forward-results.ts';

/**
 * Whether a problem has one query per head, and only a scale, lengths and a band affect its scores, as in
 * decoding. Each key and value is then read once, in place, for all heads that share it.
 */
export function hasOneQuery(problem: AttentionProblem): boolean {
  const { Sq, Hk, Hv, q, k, v, lengthsQ, lengthsKv, outputs } = problem;
  const isPlain = (desc: OperandDesc): boolean =>
    desc.starts === 'strided' &&
    desc.page === null &&
    desc.strides[3] === 1 &&
    storageCodes[desc.dtype] !== undefined;
  const { scoreMod, softcap, bias, mask, blockMask, maskMod, dropout, fp8 } = problem;
  const changes = [scoreMod, softcap, bias, mask, blockMask, maskMod, dropout, fp8];
  return (
    Sq === 1 &&
    Hk === Hv &&
    [q, k, v].every(isPlain) &&
    ![lengthsQ, lengthsKv].includes('cumulative') &&
    changes.every(change => change === null) &&
    !problem.alibi &&
    !problem.sink &&
    !Object.values(outputs).includes(true)
  );
}

/** Computes the claimed tasks of such a problem, head by head: p = softmax(scale·q·kᵀ) and o = p·v. */
export function runOneQuery(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  { multiplyLines, addLineProducts }: LineProductKernels,
  { kernels, threads = 1, awaitHeads }: PassContext,
  results: ForwardResults,
  claim: Claim,
): void {
  const { Hq, Hk, Skv, Dqk, Dv } = problem;
  const { memory } = kernels;
  memory.reset();
  const { keyRange } = createKeyRanges(problem, operands);
  const lengths = createLengths(problem, operands);
  const groupSize = Hq / Hk;
  const rows = Math.ceil(groupSize / STRIP) * STRIP;
  const [qWidth, oWidth, ld] = [padded(Dqk), padded(Dv), 4 * padded(Skv)];
  const queries = memory.floats(rows * qWidth);
  const scores = memory.floats(rows * padded(Skv));
  const sums = memory.floats(rows * oWidth);
  const largest = memory.floats(rows);
  const total = memory.allocate(Float64Array, rows);

  const q = createAddressing(problem.q, operands.q, lengths.q);
  const loadQ = createLoadLine(kernels, operands.q, Dqk);
  const linesOf = (name: 'k' | 'v', width: number) => {
    const address = createAddressing(problem[name], operands[name], lengths.kv);
    const distance = address.rowStride ?? width;
    const lines = createStoredLines(kernels, operands[name], { count: Skv, width, distance });
    return { ...lines, address, code: storageCodes[operands[name].dtype] ?? 0 };
  };
  const [k, v] = [linesOf('k', Dqk), linesOf('v', Dv)];
  const o = createRowResult(kernels, results.o, problem.o, lengths.q);
  const setLse = createStatistic(results.lse, problem, lengths.q);

  /** Calls `work` for the keys from lo to hi, in runs that fit in the kernels' memory. */
  function inParts(lo: number, hi: number, atOnce: number, work: (j: number, count: number) => void): void {
    for (let j = lo; j < hi; j += atOnce) work(j, Math.min(atOnce, hi - j));
  }

  function run(b: number, first: number): void {
    const [lo, hi] = keyRange(b, 0);
    const h = first / groupSize;
    for (let i = 0; i < groupSize; i++)
      loadQ(q.rowOffset(b, first + i, 0), 1, Dqk, queries.at + 4 * i * qWidth);
    kernels.scaleRows(groupSize, qWidth, queries.at, 4 * qWidth, problem.scale);
    inParts(lo, hi, k.atOnce, (j, count) => {
      const at = k.at(k.address.rowOffset(b, h, j), count);
      const to = scores.at + 4 * (j - lo);
      multiplyLines(k.code, groupSize, count, Dqk, queries.at, 4 * qWidth, at, k.ld, to, ld);
    });
    largest.values.fill(-Infinity);
    total.values.fill(0);
    sums.values.fill(0);
    const [m, l, to] = [largest.at, total.at, sums.at];
    kernels.updateSoftmax(groupSize, hi - lo, scores.at, ld, m, l, to, 4 * oWidth, oWidth, 0, 0);
    inParts(lo, hi, v.atOnce, (j, count) => {
      const at = v.at(v.address.rowOffset(b, h, j), count);
      const from = scores.at + 4 * (j - lo);
      addLineProducts(v.code, groupSize, Dv, count, from, ld, at, v.ld, to, 4 * oWidth);
    });
    kernels.divideRows(groupSize, oWidth, to, 4 * oWidth, l);
    for (let i = 0; i < groupSize; i++) {
      const sum = total.values[i];
      setLse(b, first + i, 0, Float64Array.of(sum === 0 ? -Infinity : largest.values[i] + Math.log(sum)));
      o.store(b, first + i, 0, 1, to + 4 * i * oWidth);
    }
  }

  const tasks = forwardTasks(problem, tileSizeOf(problem), threads);
  for (let n = claim(); n < tasks.length; n = claim()) {
    const { group, b, first } = tasks[n];
    awaitHeads?.(group);
    // A sequence without a query has rows of zeros.
    if (lengths.q.length(b) > 0) run(b, first);
  }
}
