import { elementCount, type Shape, sameShape, type TensorDesc } from '@tilewise/core';
import { InvalidGraphError } from '../../errors.ts';
import { describeNode, type GraphNode } from '../../ir/node.ts';
import type { Value } from '../../ir/program/lowering.ts';
import type { ProgramBuilder } from '../../ir/program/program-builder.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../ir/topology.ts';
import type { DropoutMatch } from '../../passes/attention/dropout.ts';

/** The program that operations are written into. */
export interface OperationsLowering {
  readonly builder: ProgramBuilder;
  /** The value of a tensor that is an input of the operations or has been written already. */
  value(tensor: number): Value;
  /** The value that a tensor of the operations is written to: an output or a temporary. */
  result(tensor: number): Value;
  /** A tensor of the operations with its shape. */
  tensor(tensor: number): LogicalTensor;
  /** The description of a tensor of the operations, even if the tensor is never stored. */
  desc(tensor: number): TensorDesc;
}

/** The program that a match is written into. */
export interface MatchLowering extends OperationsLowering {
  readonly topology: Topology;
}

/** Writes one operation. */
export function lowerNode(node: GraphNode, { builder, value, result, tensor }: OperationsLowering): void {
  const { attributes, inputs, outputs, operation } = node;
  if (!operation.lower) throw new InvalidGraphError(`${describeNode(node)} cannot run`);
  const values = builder.lowering(
    inputs.map(t => value(t.id)),
    outputs.map(t => result(t.id)),
  );
  const shaped = (list: readonly LogicalTensor[]): LogicalTensor[] => list.map(({ id }) => tensor(id));
  operation.lower(values, { attributes, inputs: shaped(inputs), outputs: shaped(outputs) });
}

/** Whether dropout decides independently for every score, with one factor for all, as attention does. */
export function isPerScore(
  { result, likeMask, scale }: DropoutMatch,
  scores: Shape,
  { desc }: Pick<MatchLowering, 'desc'>,
): boolean {
  const isOne = scale === undefined || elementCount(desc(scale).shape) === 1;
  return isOne && [result, likeMask].every(t => sameShape(desc(t).shape, scores));
}
