import { elementCount, Tensor } from '@tilewise/core';
import { describeTensor, type Graph, isKnown, type LogicalTensor, type Use } from '@tilewise/graph';
import { type GraphInputs, normal } from './attention-graph.ts';

/** An input whose extents the graph leaves open, so that no numbers can be made for it. */
class OpenShape extends Error {
  override readonly name: string = 'OpenShape';
  readonly tensor: string;
  constructor(tensor: LogicalTensor) {
    super(`the shape of tensor ${describeTensor(tensor)} is open`);
    this.tensor = describeTensor(tensor);
  }
}

/** The numbers of an input take up to 1 GiB. */
const mostNumbers = 2 ** 28;

function tooLarge(tensor: LogicalTensor, size: number): string {
  const [own, most] = [size, mostNumbers].map(count => count.toLocaleString('en'));
  return `tensor ${describeTensor(tensor)} has ${own} numbers; this page makes at most ${most}`;
}

/**
 * Plausible numbers for the inputs of any graph: normal numbers for factors of products, and for scalars
 * values that suit the operation that reads them.
 * @throws OpenShape when the graph does not say how large an input is; Error for an input that is too large.
 */
export function graphInputs({ topology }: Graph): GraphInputs {
  // Masks are computed from the indices of the scores.
  const indexed = topology.order.find(node => node.kind === 'GenIndex')?.inputs[0];
  const scores = (indexed && topology.shapeOf(indexed.id)) ?? [];
  const inputs = topology.inputs.map(t => {
    const shape = topology.shapeOf(t.id);
    if (!isKnown(shape)) throw new OpenShape(t);
    const size = elementCount(shape);
    if (size > mostNumbers) throw new Error(tooLarge(t, size));
    const [use] = topology.uses(t.id);
    return [t.id, use ? numbersFor({ ...t, shape }, use, scores) : 0] as const;
  });
  return Object.fromEntries(inputs);
}

type Known = LogicalTensor & { readonly shape: readonly number[] };

function numbersFor(t: Known, { node, input }: Use, scores: readonly number[]): Tensor | number | bigint {
  const { dtype, shape } = t;
  const size = elementCount(shape);
  const filled = (value: number): Tensor =>
    Tensor.from(new Array(size).fill(value), shape, { dtype: dtype as 'f32' });
  const scalar = (value: number): Tensor | number => (shape.length === 0 ? value : filled(value));
  if (dtype === 'i64') return input === 1 ? 42n : 0n;
  if (dtype === 'i32' && size === 1) {
    // Index + Skv − Sq: a causal mask aligned to the bottom right.
    const [Sq = 0, Skv = 0] = scores.slice(-2);
    return scalar(node.kind === 'Add' ? Skv : node.kind === 'Subtract' ? Sq : 0);
  }
  if (dtype === 'bool')
    return Tensor.from(
      Array.from({ length: size }, (_, n) => (n % 5 === 4 ? 0 : 1)),
      shape,
      { dtype },
    );
  if (size === 1) {
    const byReader: Readonly<Record<string, number>> = {
      Multiply: 0.125,
      Divide: 8,
      Select: Number.NEGATIVE_INFINITY,
      Dropout: 0.1,
    };
    return scalar(byReader[node.kind] ?? 1);
  }
  if (/^[iu]\d/.test(dtype)) {
    return Tensor.from(
      Array.from({ length: size }, (_, n) => (n * 7) % 3),
      shape,
      { dtype: storage(dtype) },
    );
  }
  return normal(dtype, shape, t.id);
}

const storage = (dtype: string): 'i8' | 'u8' | 'i32' =>
  dtype === 'i4' ? 'i8' : dtype === 'u4' ? 'u8' : (dtype as 'i8');
