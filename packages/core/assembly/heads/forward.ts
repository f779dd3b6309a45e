import { addProduct, divideRows, log, multiplyScores, packColumns, packRows, updateSoftmax } from './kernels';
import { ForwardNumbers, HeadAddresses, storeRows, paddedToStrips } from './numbers';
import { PANEL, PANEL_BYTES } from '../vector/vector';

/**
 * Computes o and lse of `count` heads, whose scores are one tile each, with the kernels of tiles and in their
 * order, so that results have the same bits. The addresses of q, k, v and o follow the numbers.
 */
export function forwardHeads(numbers: usize, thread: i32, first: i32, count: i32): void {
  const n = changetype<ForwardNumbers>(numbers);
  const addresses = numbers + offsetof<ForwardNumbers>();
  const q = changetype<HeadAddresses>(addresses);
  const k = changetype<HeadAddresses>(addresses + offsetof<HeadAddresses>());
  const v = changetype<HeadAddresses>(addresses + 2 * offsetof<HeadAddresses>());
  const o = changetype<HeadAddresses>(addresses + 3 * offsetof<HeadAddresses>());
  const Sq = n.Sq;
  const Skv = n.Skv;
  const Dqk = n.Dqk;
  const Dv = n.Dv;
  const ranges = n.ranges;
  const ld = <usize>n.columns * 4;
  const ldO = <usize>Dv * 4;
  const panelBytes = <usize>n.columns * PANEL_BYTES;
  const scratch = n.scratch + <usize>thread * n.scratchBytes;
  const keys = scratch + n.keys;
  const values = scratch + n.values;
  const scores = scratch + n.scores;
  const sums = scratch + n.sums;
  const largest = scratch + n.largest;
  const sum = scratch + n.sum;

  for (let at = first; at < first + count; at++) {
    for (let i = 0; i < Sq; i++) {
      store<f32>(largest + <usize>i * 4, -Infinity);
      store<f64>(sum + <usize>i * 8, 0);
    }
    memory.fill(sums, 0, paddedToStrips(Sq) * ldO);
    packColumns((Skv + PANEL - 1) & ~(PANEL - 1), Dqk, k.of(at, n.H), k.row, keys);
    multiplyScores(Sq, Skv, Dqk, q.of(at, n.H), q.row, keys, scores, ld, n.scale, ranges, 0);
    updateSoftmax(Sq, Skv, scores, ld, largest, sum, sums, ldO, Dv, ranges, 0);
    const guarded = !packRows(Skv, Dv, v.of(at, n.H), v.row, values, panelBytes);
    addProduct(Sq, Dv, Skv, scores, ld, values, panelBytes, sums, ldO, ranges, 0, guarded);
    const lse = n.lse + <usize>at * <usize>Sq * 4;
    for (let i = 0; i < Sq; i++) {
      const l = load<f64>(sum + <usize>i * 8);
      const m = <f64>load<f32>(largest + <usize>i * 4);
      store<f32>(lse + <usize>i * 4, l == 0 ? -Infinity : <f32>(m + log(l)));
    }
    divideRows(Sq, Dv, sums, ldO, sum);
    storeRows(Sq, Dv, sums, o.of(at, n.H), o.row);
  }
}
