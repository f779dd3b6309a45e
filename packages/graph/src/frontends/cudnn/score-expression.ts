import { constant, type Expr, load, score, toF32 } from '@tilewise/core/expr';
import { axisIndex, placeIn } from '../../compile/lower/place-expr.ts';
import { InvalidGraphError } from '../../errors.ts';
import { Graph } from '../../graph.ts';
import { describeNode, type GraphNode, neededNodes } from '../../ir/node.ts';
import { exprCost, exprType, MAX_EVALUATED } from '../../ir/program/expr.ts';
import { numberOf, numbersOf } from '../../ir/schema/attribute.ts';
import { storageDType } from '../../ir/tensor/dtype.ts';
import { describeTensor, isKnown, type LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { numeric } from '../../ops/elementwise/numeric.ts';
import type { ScoreProgram } from './arguments/arguments.ts';

/** A score program as an expression of (score, b, h, q, kv), and its captures. */
export interface ScoreExpression {
  readonly expr: Expr;
  readonly captures: Readonly<Record<string, LogicalTensor>>;
}

/** Scores are (B, Hq, Sq, Skv): heads are one dimension. */
const layout = { batch: [1, 1] };

/**
 * Runs a score program and reads its operations as an expression.
 * @param graph the graph whose tensors the program may read.
 * @throws InvalidOperationError for a result that is not a tensor of floats; InvalidGraphError for an
 * operation that is not elementwise, or a tensor whose shape is unknown or has more than four dimensions.
 */
export function scoreExpression(graph: Graph, program: ScoreProgram): ScoreExpression {
  // The tensors of the node's graph keep their ids in the program's graph.
  const scratch = new Graph({}, graph.described);
  const start = scratch.tensor({ dtype: 'f32' });
  const result = program(scratch, start);
  // Checks that the result is a tensor of floats, as the composite form does.
  scratch.op('SoftMax', { inputs: [result], outputs: [scratch.tensor({ dtype: 'f32' })] });
  const { order } = scratch.finalize().topology;
  const known = new Map<number, Expr>([[start.id, score]]);
  const captures: Record<string, LogicalTensor> = {};
  const read = (tensor: LogicalTensor): Expr => known.get(tensor.id) ?? capture(tensor, captures);
  for (const node of neededNodes(order, [result.id])) known.set(node.outputs[0].id, expressionOf(node, read));
  const expr = toF32(numeric(read(result)));
  if (exprCost(expr) > MAX_EVALUATED)
    throw new InvalidGraphError(`a score program must have at most ${MAX_EVALUATED} operations per score`);
  return { expr, captures };
}

function expressionOf(node: GraphNode, read: (tensor: LogicalTensor) => Expr): Expr {
  const { kind, attributes, operation } = node;
  const values = kind === 'Constant' ? numbersOf(attributes, 'value') : [];
  if (values.length === 1) return constant(values[0]);
  const index = kind === 'GenIndex' ? axisIndex(numberOf(attributes, 'axis'), layout) : null;
  if (index) return index;
  const operands = node.inputs.map(read);
  if (kind === 'TypeCast') {
    const type = exprType(storageDType(node.outputs[0].dtype));
    if (type === 'f32') return toF32(operands[0]);
    if (type === operands[0].type) return operands[0];
  }
  if (operation.element) return operation.element(operands, attributes);
  throw new InvalidGraphError(`${describeNode(node)} of a score program is not elementwise`);
}

function capture(tensor: LogicalTensor, captures: Record<string, LogicalTensor>): Expr {
  const { id, shape, dtype } = tensor;
  if (!isKnown(shape) || shape.length > 4) {
    throw new InvalidGraphError(
      `tensor ${describeTensor(tensor)} of a score program must have a known shape of up to four dimensions`,
      `tensor ${id}`,
    );
  }
  const name = `t${id}`;
  captures[name] = tensor;
  const type = exprType(storageDType(dtype)) as 'f32';
  return load(name, placeIn(shape, 4 - shape.length), type);
}
