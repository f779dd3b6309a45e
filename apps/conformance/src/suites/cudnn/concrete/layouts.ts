import { namedLayout } from '../format/arrangement.ts';
import type { CudnnCase, FourStrides, StrideName } from '../format/case-format.ts';
import type { Dims } from './dims.ts';

/**
 * The memory layout of q, k, v or o. If the tensor is packed, tokens are `strides[2]` apart and the batch
 * stride has no meaning.
 */
export interface TensorLayout {
  readonly packed: boolean;
  readonly strides: FourStrides;
  /**
   * The number of elements before the first one; they belong to the tensors that this one is interleaved
   * with.
   */
  readonly front: number;
}

export interface Layouts {
  readonly q: TensorLayout;
  readonly k: TensorLayout;
  readonly v: TensorLayout;
  readonly o: TensorLayout;
  /** The page size of k and v; null if they are not paged. */
  readonly pageSize: number | null;
  readonly packedTable: boolean;
}

const tensorNames: readonly StrideName[] = ['q', 'k', 'v', 'o'];

/**
 * The layouts of a case: its own strides, or those of the layout that it names.
 * @throws Error if the named layout is unknown, or if the strides give two elements the same offset.
 */
export function layoutsOf(c: CudnnCase, dims: Dims): Layouts {
  const { flags } = c;
  const packed = packedTensors(c);
  const layout = (name: StrideName): TensorLayout => {
    const lies = packed.includes(name);
    if (c.strides) {
      if (!lies) requirePlaces(name, c.strides[name], dims);
      return { packed: lies, strides: c.strides[name], front: 0 };
    }
    return { packed: lies, ...arrange(namedLayout(c.layout).orders[name], name, dims) };
  };
  const [q, k, v, o] = tensorNames.map(layout);
  return {
    ...{ q, k, v, o },
    pageSize: flags.paged ? (flags.block_size ?? 16) : null,
    packedTable: flags.packed_page_table ?? false,
  };
}

/** Whether any tensor of a case is packed. */
export function isPacked(c: CudnnCase): boolean {
  return packedTensors(c) !== '';
}

function packedTensors({ layout, strides, flags }: CudnnCase): string {
  if (layout === 'strided' && !strides) throw new Error("the layout 'strided' needs strides");
  const packed = layout === 'strided' ? '' : namedLayout(layout).packed;
  if (flags.ragged === 'q,o') return 'qo';
  if (flags.ragged === true) return flags.paged ? 'qo' : 'qkvo';
  return packed;
}

/** The strides of a (B, H, S, D) tensor whose only gaps are its neighbours in an interleaved layout. */
function arrange(
  order: string,
  name: StrideName,
  dims: Dims,
): { readonly strides: FourStrides; readonly front: number } {
  const extents = extentsOf(name, dims);
  const strides: Record<string, number> = {};
  let inner = 1;
  let front = 0;
  [...order].reverse().forEach((letter, place) => {
    const neighbours = interleaved[letter];
    if (neighbours) {
      // The inner dimensions form one piece per neighbour, with that neighbour's extents, one after the
      // other.
      const pieces = [...order].slice(order.length - place);
      const sizes = neighbours.map(neighbour => {
        const own = extentsOf(neighbour, dims);
        return pieces.reduce((size, dimension) => size * own[dimension], 1);
      });
      const sum = (all: readonly number[]): number => all.reduce((a, n) => a + n, 0);
      front = sum(sizes.slice(0, neighbours.indexOf(name)));
      inner = sum(sizes);
    } else {
      strides[letter] = inner;
      inner *= extents[letter];
    }
  });
  return { strides: [strides.b, strides.h, strides.s, strides.d], front };
}

const interleaved: Readonly<Record<string, readonly StrideName[]>> = { 3: ['q', 'k', 'v'], 2: ['k', 'v'] };

function extentsOf(name: StrideName, dims: Dims): Readonly<Record<string, number>> {
  const [h, s, d] = extent(name, dims);
  return { b: dims.B, h, s, d };
}

/**
 * Checks that no two elements have the same offset, because a write to one would change the other.
 * @throws Error naming the tensor.
 */
function requirePlaces(name: StrideName, strides: FourStrides, dims: Dims): void {
  const extents = [dims.B, ...extent(name, dims)];
  const axes = extents
    .map((extent, axis) => ({ extent, stride: strides[axis] }))
    .filter(({ extent }) => extent > 1)
    .sort((a, b) => a.stride - b.stride);
  let reach = 0;
  for (const { extent, stride } of axes) {
    if (stride <= reach)
      throw new Error(`strides.${name} give two elements the same offset, or interleave rows`);
    reach += (extent - 1) * stride;
  }
}

/** Heads, positions and channels of a tensor. */
export function extent(name: StrideName, { Hq, Hk, Hv, Sq, Skv, Dqk, Dv }: Dims): [number, number, number] {
  return {
    q: [Hq, Sq, Dqk],
    k: [Hk, Skv, Dqk],
    v: [Hv, Skv, Dv],
    o: [Hq, Sq, Dv],
  }[name] as [number, number, number];
}
