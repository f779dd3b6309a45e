import { Tensor } from '@tilewise/core';
import type { LogicalTensor } from '@tilewise/graph';
import type { GraphWriter } from './graph-writer.ts';

/** How good predictions are. */
export interface Loss {
  /** i32 (rows): the tokens that are right. */
  readonly labels: LogicalTensor;
  /** (rows): how much each row counts; they sum to 1. */
  readonly weights: LogicalTensor;
  /** Cross-entropy, () */
  readonly loss: LogicalTensor;
  /**
   * (2): the loss, and the share of rows where no token is likelier than the right one. One tensor, to be
   * read back at once.
   */
  readonly score: LogicalTensor;
}

/** Cross-entropy and accuracy of logits (rows, vocabulary). */
export function writeLoss(g: GraphWriter, logits: LogicalTensor, rows: number): Loss {
  const labels = g.input([rows], 'labels', 'i32');
  const weights = g.input([rows], 'weights');
  const sum = (x: LogicalTensor): LogicalTensor => g.op('ReduceSum', [x], { axes: [0] });

  const rowLoss = g.op('CrossEntropy', [logits, labels]);
  const loss = sum(g.op('Multiply', [rowLoss, weights]));
  const best = g.op('ReduceMax', [g.op('LogSoftmax', [logits])], { axes: [-1] });
  const isRight = g.op('GreaterEqual', [g.op('Neg', [rowLoss]), best], {}, 'bool');
  const accuracy = sum(g.op('Select', [isRight, weights, g.constant(0)]));
  const at = (n: number, x: LogicalTensor): LogicalTensor =>
    g.op('Multiply', [g.constant(Tensor.from([1 - n, n], [2]), `element ${n}`), x]);
  return { labels, weights, loss, score: g.op('Add', [at(0, loss), at(1, accuracy)]) };
}
