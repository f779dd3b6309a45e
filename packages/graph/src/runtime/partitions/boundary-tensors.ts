import { checkObject, InvalidArgumentError, InvalidShapeError } from '@tilewise/core';
import type { GraphNode } from '../../ir/node.ts';
import { checkTensor } from '../../ir/tensor/check-tensor.ts';
import { describeTensor, type LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { admits } from '../../ir/tensor/shape.ts';
import type { KnownTensor } from '../../ir/tensor/storage.ts';
import type { Topology } from '../../ir/topology.ts';
import { comeFromOutside, leaves } from '../../passes/fuse/boundary.ts';

/** The tensors that enter and leave operations that run together. */
export function boundary(
  nodes: readonly GraphNode[],
  members: ReadonlySet<GraphNode>,
  topology: Topology,
): { inputs: LogicalTensor[]; outputs: LogicalTensor[] } {
  const inputs = new Map<number, LogicalTensor>();
  const outputs = new Map<number, LogicalTensor>();
  for (const node of nodes) {
    for (const t of node.inputs) if (comeFromOutside([t.id], members, topology)) inputs.set(t.id, t);
    for (const t of node.outputs) if (leaves(t.id, members, topology)) outputs.set(t.id, t);
  }
  return { inputs: [...inputs.values()], outputs: [...outputs.values()] };
}

/**
 * Tensors with the shapes and strides that are known now.
 * @param argument the name of `known` in errors.
 * @throws InvalidArgumentError for an id that no tensor has; InvalidShapeError for a shape that the tensor's
 * declaration does not allow.
 */
export function withKnown(
  argument: string,
  tensors: readonly LogicalTensor[],
  known: Readonly<Record<number, KnownTensor>> = {},
): LogicalTensor[] {
  const ids = new Set(tensors.map(t => `${t.id}`));
  const unknown = Object.keys(known).find(id => !ids.has(id));
  if (unknown !== undefined)
    throw new InvalidArgumentError(
      argument,
      `has tensor ${unknown}, which is not one of ${[...ids].join(', ')}`,
    );
  return tensors.map(t => {
    const given = known[t.id];
    if (!given) return t;
    checkObject(`tensor ${t.id}`, given);
    const { shape, strides = null } = given;
    checkTensor(`tensor ${t.id}: `, { ...t, shape: shape ?? undefined, strides });
    if (!admits(t.shape, shape)) {
      const rule = `is declared with the shape [${t.shape}], got [${shape}]`;
      throw new InvalidShapeError(`tensor ${describeTensor(t)}`, rule);
    }
    return { ...t, shape, strides };
  });
}
