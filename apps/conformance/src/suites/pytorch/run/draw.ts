import { elementCount, type SdpaOptions, Tensor } from '@tilewise/core';
import { PhiloxStream } from '@tilewise/philox';
import type { Point } from '../point.ts';

/** The operands of a point, and its options. */
export interface Drawn {
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly dO: Tensor;
  readonly options: SdpaOptions<Tensor>;
}

/** Draws the operands of a point. */
export function draw({ dims, dtype, inputs, layout, options, upstream }: Point, seed: number): Drawn {
  const { B, Hq, Hk, Sq, Skv, D, Dv } = dims;
  const stream = new PhiloxStream(BigInt(seed));
  const next = inputs === 'uniform' ? () => stream.nextU32() / 2 ** 32 : () => stream.nextNormal();
  const tensor = (...shape: number[]): Tensor => {
    const count = elementCount(shape);
    return Tensor.from(Float64Array.from({ length: count }, next), shape, { dtype });
  };
  const ones = (): Tensor =>
    Tensor.from(new Float64Array(B * Hq * Sq * Dv).fill(1), [B, Hq, Sq, Dv], { dtype });
  const operands = views(layout, tensor, { B, S: Sq, Skv, H: Hq, D });
  return {
    q: operands.q ?? tensor(B, Hq, Sq, D),
    k: operands.k ?? tensor(B, Hk, Skv, D),
    v: operands.v ?? tensor(B, Hk, Skv, Dv),
    dO: upstream === 'drawn' ? tensor(B, Hq, Sq, Dv) : ones(),
    options: options(stream),
  };
}

type Qkv = Readonly<Record<'q' | 'k' | 'v', Tensor>>;

/** q, k and v that share memory, in the given layout. */
function views(
  layout: Point['layout'],
  tensor: (...shape: number[]) => Tensor,
  { B, S, Skv, H, D }: Readonly<Record<'B' | 'S' | 'Skv' | 'H' | 'D', number>>,
): Partial<Qkv> {
  const view = (t: Tensor, S: number, strides: number[], from: number): Tensor =>
    Tensor.wrap(t.data, { dtype: t.dtype, shape: [B, H, S, D], strides, offset: from });
  switch (layout) {
    case 'packed qkv': {
      const qkv = tensor(B, S, 3, H, D);
      const part = (n: number): Tensor => view(qkv, S, [3 * S * H * D, D, 3 * H * D, 1], n * H * D);
      return { q: part(0), k: part(1), v: part(2) };
    }
    case 'one tensor': {
      const x = tensor(B, H, S, D);
      return { q: x, k: x, v: x };
    }
    case 'shared heads': {
      const kv = tensor(B, Skv, 2, D);
      const part = (n: number): Tensor => view(kv, Skv, [2 * Skv * D, 0, 2 * D, 1], n * D);
      return { k: part(0), v: part(1) };
    }
    case 'strided': {
      const padded = (S: number): Tensor =>
        tensor(B, S, H, D + 8)
          .slice(3, 0, D)
          .permute(0, 2, 1, 3);
      return { q: padded(S), k: padded(Skv), v: padded(Skv) };
    }
    default:
      return {};
  }
}
