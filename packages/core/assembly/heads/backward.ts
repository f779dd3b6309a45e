import {
  addProduct,
  addTransposedProduct,
  dotRows,
  multiplyScores,
  packColumns,
  packRows,
  scaleRows,
  toProbabilities,
  toScoreGradients,
} from './kernels';
import { BackwardNumbers, HeadAddresses, storeRows, paddedToStrips } from './numbers';
import { PANEL, PANEL_BYTES } from '../vector/vector';

/**
 * Computes dq, dk and dv of `count` heads, whose scores are one tile each, with the kernels of tiles and in
 * their order, so that results have the same bits. The addresses of q, k, v, o, dO, dq, dk and
 * dv follow the numbers.
 */
export function backwardHeads(numbers: usize, thread: i32, first: i32, count: i32): void {
  const n = changetype<BackwardNumbers>(numbers);
  const addresses = numbers + offsetof<BackwardNumbers>();
  const q = changetype<HeadAddresses>(addresses);
  const k = changetype<HeadAddresses>(addresses + offsetof<HeadAddresses>());
  const v = changetype<HeadAddresses>(addresses + 2 * offsetof<HeadAddresses>());
  const o = changetype<HeadAddresses>(addresses + 3 * offsetof<HeadAddresses>());
  const dO = changetype<HeadAddresses>(addresses + 4 * offsetof<HeadAddresses>());
  const dq = changetype<HeadAddresses>(addresses + 5 * offsetof<HeadAddresses>());
  const dk = changetype<HeadAddresses>(addresses + 6 * offsetof<HeadAddresses>());
  const dv = changetype<HeadAddresses>(addresses + 7 * offsetof<HeadAddresses>());
  const H = n.H;
  const Sq = n.Sq;
  const Skv = n.Skv;
  const Dqk = n.Dqk;
  const Dv = n.Dv;
  const ranges = n.ranges;
  const ld = <usize>n.columns * 4;
  const ldQ = <usize>Dqk * 4;
  const ldV = <usize>Dv * 4;
  const ofRows = <usize>Sq * PANEL_BYTES;
  const ofKeys = <usize>n.columns * PANEL_BYTES;
  const paddedKeys = (Skv + PANEL - 1) & ~(PANEL - 1);
  const scratch = n.scratch + <usize>thread * n.scratchBytes;
  const kColumns = scratch + n.kColumns;
  const vColumns = scratch + n.vColumns;
  const kRows = scratch + n.kRows;
  const qRows = scratch + n.qRows;
  const dORows = scratch + n.dORows;
  const p = scratch + n.p;
  const dS = scratch + n.dS;
  const dqSums = scratch + n.dq;
  const dkSums = scratch + n.dk;
  const dvSums = scratch + n.dv;
  const delta = scratch + n.delta;
  const dots = scratch + n.dots;

  for (let at = first; at < first + count; at++) {
    const atQ = q.of(at, H);
    const atK = k.of(at, H);
    const atDO = dO.of(at, H);
    memory.fill(dqSums, 0, paddedToStrips(Sq) * ldQ);
    memory.fill(dkSums, 0, paddedToStrips(Skv) * ldQ);
    memory.fill(dvSums, 0, paddedToStrips(Skv) * ldV);
    const guardedQ = !packRows(Sq, Dqk, atQ, q.row, qRows, ofRows);
    const guardedDO = !packRows(Sq, Dv, atDO, dO.row, dORows, ofRows);
    const guardedK = !packRows(Skv, Dqk, atK, k.row, kRows, ofKeys);
    packColumns(paddedKeys, Dqk, atK, k.row, kColumns);
    packColumns(paddedKeys, Dv, v.of(at, H), v.row, vColumns);
    dotRows(Sq, Dv, atDO, dO.row, o.of(at, H), o.row, dots);
    for (let i = 0; i < Sq; i++) store<f32>(delta + <usize>i * 4, <f32>load<f64>(dots + <usize>i * 8));

    multiplyScores(Sq, Skv, Dqk, atQ, q.row, kColumns, p, ld, n.scale, ranges, 0);
    toProbabilities(Sq, Skv, p, ld, n.lse + <usize>at * <usize>Sq * 4, ranges, 0);
    addTransposedProduct(Skv, Dv, Sq, p, ld, dORows, ofRows, dvSums, ldV, ranges, 0, guardedDO);
    multiplyScores(Sq, Skv, Dv, atDO, dO.row, vColumns, dS, ld, 1, ranges, 0);
    toScoreGradients(Sq, Skv, dS, p, ld, delta);
    addProduct(Sq, Dqk, Skv, dS, ld, kRows, ofKeys, dqSums, ldQ, ranges, 0, guardedK);
    addTransposedProduct(Skv, Dqk, Sq, dS, ld, qRows, ofRows, dkSums, ldQ, ranges, 0, guardedQ);
    scaleRows(Sq, Dqk, dqSums, ldQ, n.scale);
    scaleRows(Skv, Dqk, dkSums, ldQ, n.scale);
    storeRows(Sq, Dqk, dqSums, dq.of(at, H), dq.row);
    storeRows(Skv, Dqk, dkSums, dk.of(at, H), dk.row);
    storeRows(Skv, Dv, dvSums, dv.of(at, H), dv.row);
  }
}
