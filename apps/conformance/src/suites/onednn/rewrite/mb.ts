import type { Graph, LogicalShape, LogicalTensor } from '@tilewise/graph';

/**
 * The inputs of a finalized graph whose first dimension is the batch, by benchdnn's rule for `--mb`: each
 * operation that one goes through must pass its first dimension on, up to a result. A product does so from
 * both sides when it has a batch, and from the left when it has none; any other operation from inputs that
 * are not broadcast along the first dimension of the result.
 * @returns ids, empty when none is.
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
  /** Whether an operand has the rank of the result, and the first extent. */
  function isWhole(operands: readonly LogicalTensor[], which: number): boolean {
    const rank = Math.max(...operands.map(rankOf));
    const firsts = operands.map(t => (rankOf(t) === rank ? (shapes.get(t.id)?.[0] ?? 0) : 0));
    return rank > 0 && firsts[which] > 0 && firsts[which] === Math.max(...firsts);
  }

  return new Set(inputs.filter(isPassedOn).map(({ id }) => id));
}
