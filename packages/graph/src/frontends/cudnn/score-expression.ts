import { constant, type Expr, load, score, toF32 } from '@tilewise/core/expr';
import { axisIndex, placeIn } from '../../compile/lower/place-expr.ts';
import { InvalidGraphError } from '../../errors.ts';
import { Graph } from '../../graph.ts';
import { describeNode } from '../../ir/node.ts';
import { exprType } from '../../ir/program/expr-type.ts';
import { numberOf, numbersOf } from '../../ir/schema/attribute.ts';
import { storageDType } from '../../ir/tensor/dtype.ts';
import { describeTensor, isKnown, type LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../ir/topology.ts';
import { numeric } from '../../ops/elementwise/numeric.ts';
import type { ScoreProgram } from './arguments.ts';

/** A score program as an expression of (score, b, h, q, kv), and the tensors that it loads from. */
export interface ScoreExpression {
  readonly expr: Expr;
  readonly captures: Readonly<Record<string, LogicalTensor>>;
}

/** (B, Hq, Sq, Skv): heads are one dimension, whatever their number. */
const layout = { batch: [1, 1], B: 1, H: 1 };

/**
 * Reads what a program writes.
 * @param graph whose tensors it may read; what it writes goes into a graph of its own.
 * @throws InvalidGraphError for an operation that is not elementwise, or a tensor whose shape is not known or not of four dimensions.
 */
export function scoreExpression(graph: Graph, program: ScoreProgram): ScoreExpression {
  const scratch = new Graph();
  // Ids above those of the node's graph, so that its tensors stay themselves.
  const first = graph.tensor({ dtype: 'f32' }).id;
  const start = scratch.tensor({ id: first, dtype: 'f32' });
  const result = program(scratch, start);
  if (scratch.nodes.length === 0) return { expr: score, captures: {} };
  const reader = new ProgramReader(scratch.finalize().topology, start.id);
  return { expr: toF32(numeric(reader.read(result))), captures: reader.captures };
}

class ProgramReader {
  readonly captures: Record<string, LogicalTensor> = {};
  readonly #topology: Topology;
  readonly #start: number;

  constructor(topology: Topology, start: number) {
    this.#topology = topology;
    this.#start = start;
  }

  read(tensor: LogicalTensor): Expr {
    if (tensor.id === this.#start) return score;
    const node = this.#topology.producers.get(tensor.id);
    if (!node) return this.#capture(tensor);
    const { kind, attributes, operation } = node;
    if (kind === 'Constant') {
      const values = numbersOf(attributes, 'value');
      if (values.length === 1) return constant(values[0]);
    }
    if (kind === 'GenIndex') {
      const index = axisIndex(numberOf(attributes, 'axis'), layout);
      if (index) return index;
    }
    if (kind === 'TypeCast') return this.read(node.inputs[0]);
    if (!operation.element)
      throw new InvalidGraphError(`${describeNode(node)} of a score program is not elementwise`);
    return operation.element(
      node.inputs.map(t => this.read(t)),
      attributes,
    );
  }

  #capture(tensor: LogicalTensor): Expr {
    const { id, shape, dtype } = tensor;
    if (!isKnown(shape) || shape.length > 4) {
      throw new InvalidGraphError(
        `tensor ${describeTensor(tensor)} of a score program must have a known shape of up to four dimensions`,
        `tensor ${id}`,
      );
    }
    const name = `t${id}`;
    this.captures[name] = tensor;
    const type = exprType(storageDType(dtype)) as 'f32';
    return load(name, placeIn(shape, 4 - shape.length), type);
  }
}
