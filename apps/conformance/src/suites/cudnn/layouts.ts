import type { CudnnCase, FourStrides, StrideName } from './case-format.ts';
import type { Dims } from './concrete.ts';

/** Where the elements of q, k, v or o lie. Of a packed one, tokens are `strides[2]` apart and the batch stride means nothing. */
export interface TensorLayout {
  readonly packed: boolean;
  readonly strides: FourStrides;
  /** Elements in front of the first one, which belong to the tensors that it is interleaved with. */
  readonly front: number;
}

export interface Layouts {
  readonly q: TensorLayout;
  readonly k: TensorLayout;
  readonly v: TensorLayout;
  readonly o: TensorLayout;
  /** Page size of k and v, null when they are not paged. */
  readonly pageSize: number | null;
  readonly packedTable: boolean;
}

const tensorNames: readonly StrideName[] = ['q', 'k', 'v', 'o'];

type Arrangement = 'bhsd' | 'bshd' | 'sbhd' | 'bs3hd' | 'sbh3d';

/** Layouts by the names that cases use: how each tensor is arranged, and which are packed. */
const named: Readonly<
  Record<string, { readonly arranged: Readonly<Record<StrideName, Arrangement>>; readonly packed: string }>
> = {
  bhsd: { arranged: all('bhsd'), packed: '' },
  bshd: { arranged: all('bshd'), packed: '' },
  bs3hd: { arranged: all('bs3hd'), packed: '' },
  sbh3d: { arranged: all('sbh3d'), packed: '' },
  thd: { arranged: all('bshd'), packed: 'qkvo' },
  'bs3hd(t3hd)': { arranged: all('bs3hd'), packed: '' },
  'q,o thd; k,v bshd': { arranged: all('bshd'), packed: 'qo' },
  'q,o thd chunk; k,v bshd': { arranged: all('bshd'), packed: 'qo' },
  'ragged thd q/o': { arranged: all('bshd'), packed: 'qo' },
  'qkv bhsd; o sbhd in fwd samples': { arranged: { ...all('bhsd'), o: 'sbhd' }, packed: '' },
};

function all(arrangement: Arrangement): Readonly<Record<StrideName, Arrangement>> {
  return { q: arrangement, k: arrangement, v: arrangement, o: arrangement };
}

/**
 * The layouts of a case: its own strides, or those of the layout that it names.
 * @throws Error when it names a layout that is not known, or states strides for one that needs none.
 */
export function layoutsOf(c: CudnnCase, dims: Dims): Layouts {
  const { flags } = c;
  const packed = packedTensors(c);
  const layout = (name: StrideName): TensorLayout => {
    const lies = packed.includes(name);
    if (c.strides) return { packed: lies, strides: c.strides[name], front: 0 };
    return { packed: lies, ...arrange(named[c.layout].arranged[name], name, dims) };
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
  if (layout !== 'strided' && !Object.hasOwn(named, layout))
    throw new Error(`the layout ${layout} is not known`);
  if (flags.ragged === 'q,o') return 'qo';
  if (flags.ragged === true) return flags.paged ? 'qo' : 'qkvo';
  return layout === 'strided' ? '' : named[layout].packed;
}

/** Strides of a tensor of (B, H, S, D) without gaps but those of its neighbours in an interleaved layout. */
function arrange(
  arrangement: Arrangement,
  name: StrideName,
  dims: Dims,
): { readonly strides: FourStrides; readonly front: number } {
  const { B, Dqk, Dv } = dims;
  const [H, S, D] = extent(name, dims);
  const dense = (strides: FourStrides) => ({ strides, front: 0 });
  switch (name === 'o' && arrangement.includes('3') ? 'bshd' : arrangement) {
    case 'bhsd':
      return dense([H * S * D, S * D, D, 1]);
    case 'bshd':
      return dense([S * H * D, D, H * D, 1]);
    case 'sbhd':
      return dense([H * D, D, B * H * D, 1]);
    case 'bs3hd': {
      // A token holds all heads of q, then those of k, then those of v.
      const [q, k, v] = [dims.Hq * Dqk, dims.Hk * Dqk, dims.Hv * Dv];
      const token = q + k + v;
      return { strides: [S * token, D, token, 1], front: { q: 0, k: q, v: q + k, o: 0 }[name] };
    }
    case 'sbh3d': {
      // A head holds its q, then its k, then its v.
      const head = 2 * Dqk + Dv;
      return {
        strides: [H * head, head, B * H * head, 1],
        front: { q: 0, k: Dqk, v: 2 * Dqk, o: 0 }[name],
      };
    }
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
