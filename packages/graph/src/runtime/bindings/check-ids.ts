import { checkObject, InvalidArgumentError, nearestName } from '@tilewise/core';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { Bindings, Ends } from './bindings.ts';

/**
 * Checks that bindings belong to tensors of the graph. Bindings of tensors that are not read or written here
 * are allowed, so that one set of bindings serves all partitions of a graph and its gradients.
 * @param described all tensors of the graph, by id.
 * @param ends the tensors that are read and written here.
 * @param argument the name of the bindings in errors.
 * @throws InvalidArgumentError naming the key, and the tensor that was probably meant.
 */
export function checkIds(
  bindings: Bindings<unknown>,
  described: ReadonlyMap<number, LogicalTensor>,
  ends: Pick<Ends, 'inputs' | 'outputs'>,
  argument = 'bindings',
): void {
  checkObject(argument, bindings);
  for (const [key, value] of Object.entries(bindings)) {
    const id = Number(key);
    if (value === undefined || (described.has(id) && String(id) === key)) continue;
    const unbound = [...ends.inputs, ...ends.outputs].filter(t => bindings[t.id] === undefined);
    const meant = meantBy(key, unbound);
    const hint = meant ? `; did you mean ${meant.id}?` : '';
    throw new InvalidArgumentError(
      argument,
      `has '${key}', which is the id of no tensor of the graph${hint}`,
    );
  }
}

/** The tensor with the nearest name, or the only unbound one. */
function meantBy(key: string, unbound: readonly LogicalTensor[]): LogicalTensor | undefined {
  const byName = new Map(unbound.flatMap(t => (t.name === undefined ? [] : [[t.name, t] as const])));
  const name = nearestName(key, [...byName.keys()]);
  if (name !== undefined) return byName.get(name);
  return unbound.length === 1 ? unbound[0] : undefined;
}
