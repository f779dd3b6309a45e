import { Graph, type OneDnnOp, type OneDnnTensor } from '@tilewise/graph';

const short = new Set(['bf16', 'f16']);
const unknown = [-(2 ** 63)];

/**
 * A graph whose 16-bit MatMul results are left in f32: the same products of the same operands, widened,
 * without the last rounding. A result that another operation reads stays unchanged.
 */
export function withExactProducts(graph: Graph): Graph {
  const stored = graph.toJSON();
  const read = new Set(stored.graph.flatMap(op => op.inputs.map(t => t.id)));
  let free =
    Math.max(...stored.graph.flatMap(op => [op.id, ...[...op.inputs, ...op.outputs].map(t => t.id)])) + 1;
  const ops = stored.graph.flatMap((op): OneDnnOp[] => {
    const [result] = op.outputs;
    if (op.kind !== 'MatMul' || read.has(result.id) || !short.has(result.dtype)) return [op];
    const casts = op.inputs
      .filter(t => short.has(t.dtype))
      .map(t => ({ from: t, to: { ...t, id: free++, dtype: 'f32', stride: unknown } }));
    const widened = (t: OneDnnTensor): OneDnnTensor => casts.find(({ from }) => from.id === t.id)?.to ?? t;
    return [
      ...casts.map(({ from, to }) => ({
        id: free++,
        name: '',
        kind: 'TypeCast',
        inputs: [from],
        outputs: [to],
      })),
      { ...op, inputs: op.inputs.map(widened), outputs: [{ ...result, dtype: 'f32' }] },
    ];
  });
  return Graph.fromJSON({ ...stored, graph: ops }).finalize();
}
