import type { LogicalTensor } from '../../src/ir/tensor/logical-tensor.ts';
import type { GraphBuilder } from './attention-graph.ts';

/** A step that a graph applies to scores. */
export type Step = (g: GraphBuilder, scores: LogicalTensor) => LogicalTensor;

export const scaled: Step = (g, s) => g.op('Multiply', [s, g.scalar(0.7)]);

/** A mask GreaterEqual(row index + add − subtract, column index). */
export const indexMask =
  ({
    row = -2,
    column = -1,
    add,
    subtract,
    fill = -Infinity,
  }: {
    row?: number;
    column?: number;
    add?: number;
    subtract?: number;
    fill?: number;
  }): Step =>
  (g, s) => {
    let rows = g.op('GenIndex', [s], { axis: row }, 'i32');
    if (add !== undefined) rows = g.op('Add', [rows, g.scalar(add, 'i32')], {}, 'i32');
    if (subtract !== undefined) rows = g.op('Subtract', [rows, g.scalar(subtract, 'i32')], {}, 'i32');
    const columns = g.op('GenIndex', [s], { axis: column }, 'i32');
    const visible = g.op('GreaterEqual', [rows, columns], {}, 'bool');
    return g.op('Select', [visible, s, g.scalar(fill)]);
  };
