import type { Graph, LogicalShape, LogicalTensor } from '@tilewise/graph';

/**
 * The inputs of a finalized graph whose first dimension is the batch, by benchdnn's rule for `--mb`: every
 * operation between such an input and a result must pass on its first dimension. A product passes it on from
 * both sides if it has a batch, and from the left if it has none; any other operation passes it on from
 * inputs that are not broadcast along the first dimension of the result.
 * @returns ids; empty if there are none.
 */
export function batchInputs(
  { inputs, topology }: Graph,
  shapes: ReadonlyMap<number, LogicalShape>,
): ReadonlySet<number> {
  const known = new Map<number, boolean>();

  function isPassedOn({ id }: LogicalTensor): boolean {
    const before = known.get(id);
    if (before !== undefined) return before;
    const found = topology.uses(id).every(({ node, input }) => {
      if (node.outputs.length === 0) return true;
      const [left] = node.inputs.map(rankOf);
      const passes = node.kind === 'MatMul' && left <= 2 ? input === 0 : isWhole(node.inputs, input);
      return passes && isPassedOn(node.outputs[0]);
    });
    known.set(id, found);
    return found;
  }

  const rankOf = ({ id }: LogicalTensor): number => shapes.get(id)?.length ?? 0;
  /** Whether an operand has the rank and the first extent of the result. */
  function isWhole(operands: readonly LogicalTensor[], which: number): boolean {
    const rank = Math.max(...operands.map(rankOf));
    const firsts = operands.map(t => (rankOf(t) === rank ? (shapes.get(t.id)?.[0] ?? 0) : 0));
    return rank > 0 && firsts[which] > 0 && firsts[which] === Math.max(...firsts);
  }

  return new Set(inputs.filter(isPassedOn).map(({ id }) => id));
}
