import { Tensor } from '@tilewise/core';
import { encodeModel, type OnnxAttribute, type OnnxNode } from '../../src/formats/onnx/model.ts';

const [B, H, S, D] = [2, 4, 6, 8];

/** Writes an ONNX model node by node, as exporters do; each method returns the name of its result. */
export class ModelWriter {
  readonly opset: number;
  /** The number of key heads, each of which is repeated for H / keyHeads query heads. */
  readonly keyHeads: number;
  readonly #nodes: OnnxNode[] = [];
  readonly #initializers: { name: string; type: number; shape: readonly number[]; data: Uint8Array }[] = [];

  constructor(opset: number, keyHeads = H) {
    this.opset = opset;
    this.keyHeads = keyHeads;
  }

  op(
    op: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
  ): string {
    const name = `${op}_${this.#nodes.length}`;
    this.#nodes.push({ op, name, inputs, outputs: [name], attributes });
    return name;
  }

  /** Adds f32 numbers. */
  floats(values: readonly number[], shape: readonly number[] = []): string {
    return this.#initializer(1, shape, new Uint8Array(Float32Array.from(values).buffer));
  }

  /** Adds int64 numbers; a single number is a scalar. */
  ints(values: number | readonly number[], shape?: readonly number[]): string {
    const list = typeof values === 'number' ? [values] : values;
    const own = shape ?? (typeof values === 'number' ? [] : [list.length]);
    return this.#initializer(7, own, new Uint8Array(BigInt64Array.from(list, BigInt).buffer));
  }

  #initializer(type: number, shape: readonly number[], data: Uint8Array): string {
    const name = `c${this.#initializers.length}`;
    this.#initializers.push({ name, type, shape, data });
    return name;
  }

  reshape(x: string, shape: readonly number[]): string {
    return this.op('Reshape', [x, this.ints(shape)]);
  }

  transpose(x: string, perm: readonly number[]): string {
    return this.op('Transpose', [x], { perm: { ints: perm } });
  }

  softmax(x: string): string {
    return this.op('Softmax', [x], { axis: { int: -1 } });
  }

  /** The model, with one output, of shape (B, S, H·D) unless another is given. */
  model(output: string, shape: readonly number[] = [B, S, H * D]): Uint8Array {
    return encodeModel({
      ...{ name: 'exported', opset: this.opset, nodes: this.#nodes, initializers: this.#initializers },
      inputs: [
        ...['q', 'k', 'v'].map(name => ({ name, type: 1, shape: [B, S, H * D] })),
        { name: 'mask', type: 7, shape: [B, S] },
      ],
      outputs: [{ name: output, type: 1, shape }],
    });
  }
}

/** The inputs: q, k and v, and a mask that hides the last two keys of the second entry. */
export function exportedInputs(): Record<'q' | 'k' | 'v' | 'mask', Tensor> {
  const numbers = (seed: number): Tensor =>
    Tensor.from(
      Float32Array.from({ length: B * S * H * D }, (_, n) => Math.sin(1.3 * n * n + seed)),
      [B, S, H * D],
    );
  const seen = Array.from({ length: B * S }, (_, n) => Number(n < B * S - 2));
  return {
    ...{ q: numbers(1), k: numbers(2), v: numbers(3) },
    mask: Tensor.from(seen, [B, S], { dtype: 'i32' }),
  };
}

type Write = (w: ModelWriter) => string;
const lowest = -3.4028234663852886e38;
const scale = 1 / Math.sqrt(D);

/** An input as (B, H, S, D); the first key heads of k and v are repeated by Expand and Reshape. */
export const inHeads = (w: ModelWriter, x: string): string => {
  const all = w.transpose(w.reshape(x, [0, 0, H, D]), [0, 2, 1, 3]);
  if (x === 'q' || w.keyHeads === H) return all;
  const own = w.op('Slice', [all, w.ints([0]), w.ints([w.keyHeads]), w.ints([1])]);
  const wide = w.ints([B, w.keyHeads, H / w.keyHeads, S, D]);
  return w.reshape(w.op('Expand', [w.op('Unsqueeze', [own, w.ints([2])]), wide]), [B, H, S, D]);
};
/** An input as (B, H, D, S). */
const columns = (w: ModelWriter, x: string): string => w.transpose(inHeads(w, x), [0, 1, 3, 2]);
const times = (w: ModelWriter, x: string, factor: number): string => w.op('Mul', [x, w.floats([factor])]);
const scores: Write = w => times(w, w.op('MatMul', [inHeads(w, 'q'), columns(w, 'k')]), scale);
const merged = (w: ModelWriter, o: string): string => w.reshape(w.transpose(o, [0, 2, 1, 3]), [0, 0, H * D]);
const values = (w: ModelWriter, p: string): string => merged(w, w.op('MatMul', [p, inHeads(w, 'v')]));
/** bool (B, 1, 1, S): the padding keys. */
const padding: Write = w =>
  w.op('Not', [w.op('Cast', [w.op('Unsqueeze', ['mask', w.ints([1, 2])])], { to: { int: 9 } })]);
/** bool (S, S): the keys up to the query's own, computed from the shape. */
const causal: Write = w => {
  const extent = w.op('Gather', [w.op('Shape', ['q']), w.ints(1)]);
  const range = w.op('Range', [w.ints(0), extent, w.ints(1)]);
  return w.op('GreaterOrEqual', [
    w.op('Unsqueeze', [range, w.ints([1])]),
    w.op('Unsqueeze', [range, w.ints([0])]),
  ]);
};
/** f32 (B, 1, 1, S): an additive mask that hides the padding keys. */
const additive: Write = w => w.op('Where', [padding(w), w.floats([lowest]), w.floats([0])]);
/** The extreme along rows of truths as int64, as exporters write any and all. */
const rowExtreme = (w: ModelWriter, kind: 'ReduceMin' | 'ReduceMax', truths: string): string => {
  const numbers = w.op('Cast', [truths], { to: { int: 7 } });
  // Since version 18, the axes are an input.
  const isEarly = w.opset < 18;
  const extreme = w.op(kind, isEarly ? [numbers] : [numbers, w.ints([-1])], {
    ...(isEarly && { axes: { ints: [-1] } }),
  });
  return w.op('Cast', [extreme], { to: { int: 9 } });
};
const flat = (w: ModelWriter, x: string): string => w.reshape(x, [B * H, S, -1]);

/** Scaled dot-product attention as exporters decompose it. */
export const exportedAttention: Readonly<Record<string, Write>> = {
  'a guard of NaN': w => {
    const hidden = w.op('Where', [padding(w), w.floats([Number.NEGATIVE_INFINITY]), scores(w)]);
    const p = w.softmax(hidden);
    return values(w, w.op('Where', [w.op('IsNaN', [p]), w.floats([0]), p]));
  },
  'a guard of NaN in products of three dimensions': w => {
    const [q, k, v] = ['q', 'k', 'v'].map(x => flat(w, inHeads(w, x))) as [string, string, string];
    const product = w.reshape(w.op('MatMul', [times(w, q, scale), w.transpose(k, [0, 2, 1])]), [B, H, S, S]);
    const hidden = w.op('Where', [padding(w), w.floats([Number.NEGATIVE_INFINITY]), product]);
    const p = w.softmax(flat(w, hidden));
    const guarded = w.op('Where', [w.op('IsNaN', [p]), w.floats([0]), p]);
    return merged(w, w.reshape(w.op('MatMul', [guarded, v]), [B, H, S, D]));
  },
  // Numbers are cast as exporters of 16-bit models do. These scores are not rounded: they are 0, or hidden.
  'a guard of NaN in a 16-bit model': w => {
    const to = (x: string, type: number): string => w.op('Cast', [x], { to: { int: type } });
    const zero = to(times(w, scores(w), 0), 10);
    const hidden = w.op('Where', [padding(w), to(w.floats([Number.NEGATIVE_INFINITY]), 10), zero]);
    // The exporter casts the result of a softmax in f32 twice.
    const p = to(to(to(w.softmax(to(hidden, 1)), 10), 1), 10);
    const guarded = w.op('Where', [w.op('IsNaN', [p]), to(w.floats([0]), 10), p]);
    return values(w, to(guarded, 1));
  },
  'infinities and NaN as numbers': w => {
    const p = w.softmax(w.op('Where', [padding(w), w.floats([Number.NEGATIVE_INFINITY]), scores(w)]));
    const noNaN = w.op('Where', [w.op('IsNaN', [p]), w.floats([0]), p]);
    const isHigh = w.op('And', [w.op('IsInf', [noNaN]), w.op('Greater', [noNaN, w.floats([0])])]);
    return values(w, w.op('Where', [isHigh, w.floats([-lowest]), noNaN]));
  },
  'a guard of rows whose scores are all −infinity': w => {
    const none = w.floats([Number.NEGATIVE_INFINITY]);
    const hidden = w.op('Where', [padding(w), none, scores(w)]);
    const rows = rowExtreme(w, 'ReduceMin', w.op('Equal', [hidden, none]));
    return values(w, w.op('Where', [rows, w.floats([0]), w.softmax(hidden)]));
  },
  'the same guard with a count': w => {
    const none = w.floats([Number.NEGATIVE_INFINITY]);
    const hidden = w.op('Where', [padding(w), none, scores(w)]);
    const finite = w.op('Cast', [w.op('Not', [w.op('Equal', [hidden, none])])], { to: { int: 7 } });
    const count = w.op('ReduceSum', [finite, w.ints([-1])]);
    const rows = w.op('Not', [w.op('Greater', [count, w.ints(0)])]);
    return values(w, w.op('Where', [rows, w.floats([0]), w.softmax(hidden)]));
  },
  'a guard of rows whose mask hides all keys': w => {
    const seen = w.op('And', [causal(w), w.op('Not', [padding(w)])]);
    const hidden = w.op('Where', [w.op('Not', [seen]), w.floats([lowest]), scores(w)]);
    const rows = rowExtreme(w, 'ReduceMax', seen);
    return values(w, w.op('Where', [rows, w.softmax(hidden), w.floats([0])]));
  },
  'a mask again after the softmax': w => {
    const mask = padding(w);
    const p = w.softmax(w.op('Where', [mask, w.floats([lowest]), scores(w)]));
    return values(w, w.op('Where', [mask, w.floats([0]), p]));
  },
  'q and k that are scaled before': w => {
    const root = w.op('Sqrt', [w.floats([scale])]);
    const [q, k] = [w.op('Mul', [inHeads(w, 'q'), root]), w.op('Mul', [columns(w, 'k'), root])];
    return values(w, w.softmax(w.op('Add', [w.op('MatMul', [q, k]), additive(w)])));
  },
  'a scale by the shape of q': w => {
    const width = w.op('Cast', [w.op('Gather', [w.op('Shape', [inHeads(w, 'q')]), w.ints(3)])], {
      to: { int: 1 },
    });
    const product = w.op('MatMul', [inHeads(w, 'q'), columns(w, 'k')]);
    return values(w, w.softmax(w.op('Div', [product, w.op('Sqrt', [width])])));
  },
  'a mask expanded to the scores': w => {
    const whole = w.op('Expand', [additive(w), w.op('Shape', [scores(w)])]);
    return values(w, w.softmax(w.op('Add', [scores(w), whole])));
  },
  'a causal mask of indices': w =>
    values(w, w.softmax(w.op('Where', [causal(w), scores(w), w.floats([lowest])]))),
  'a causal mask by Trilu, added': w => {
    const upper = w.op('Trilu', [w.floats(new Array(S * S).fill(lowest), [S, S]), w.ints(1)], {
      upper: { int: 1 },
    });
    return values(w, w.softmax(w.op('Add', [scores(w), upper])));
  },
  'causal and padded, each selected': w => {
    const first = w.op('Where', [causal(w), scores(w), w.floats([lowest])]);
    return values(w, w.softmax(w.op('Where', [padding(w), w.floats([lowest]), first])));
  },
  'one minus the mask, times −10000': w => {
    const mask = w.op('Cast', [w.op('Unsqueeze', ['mask', w.ints([1, 2])])], { to: { int: 1 } });
    const added = times(w, w.op('Sub', [w.floats([1]), mask]), -10000);
    return values(w, w.softmax(w.op('Add', [scores(w), added])));
  },
  'products of three dimensions': w => {
    const [q, k, v] = ['q', 'k', 'v'].map(x => flat(w, inHeads(w, x))) as [string, string, string];
    const product = w.op('MatMul', [times(w, q, scale), w.transpose(k, [0, 2, 1])]);
    const masked = w.op('Add', [w.reshape(product, [B, H, S, S]), additive(w)]);
    const p = w.softmax(flat(w, w.op('Max', [masked, w.floats([lowest])])));
    return merged(w, w.reshape(w.op('MatMul', [p, v]), [B, H, S, D]));
  },
  'a product that broadcasts the keys of its only entry': w => {
    // The exporter drops the batch of one entry from k.
    const [q, k, v] = ['q', 'k', 'v'].map(x => w.reshape(inHeads(w, x), [1, B * H, S, D])) as [
      string,
      string,
      string,
    ];
    const flatK = w.transpose(w.reshape(k, [B * H, S, D]), [0, 2, 1]);
    const p = w.softmax(times(w, w.op('MatMul', [q, flatK]), scale));
    return merged(w, w.reshape(w.op('MatMul', [p, v]), [B, H, S, D]));
  },
  'a batched product that adds the mask, with factors of 1': w => {
    // As in torch.nn.MultiheadAttention, the sequence comes first, and batch and heads are one dimension.
    const [q, k, v] = ['q', 'k', 'v'].map(x =>
      w.transpose(w.reshape(w.transpose(x, [1, 0, 2]), [S, B * H, D]), [1, 0, 2]),
    ) as [string, string, string];
    const product = times(w, w.op('MatMul', [times(w, q, scale), w.transpose(k, [0, 2, 1])]), 1);
    const whole = w.op('Expand', [additive(w), w.ints([B, H, S, S])]);
    const p = w.softmax(w.op('Add', [product, times(w, flat(w, whole), 1)]));
    return merged(w, w.reshape(w.op('MatMul', [p, v]), [B, H, S, D]));
  },
  'distances of rows and of columns of an image': w => {
    // The queries and keys are the pixels of an image of 2 × 3.
    const [q, k, v] = ['q', 'k', 'v'].map(x => flat(w, inHeads(w, x))) as [string, string, string];
    const product = w.reshape(
      w.op('MatMul', [times(w, q, scale), w.transpose(k, [0, 2, 1])]),
      [8, 2, 3, 2, 3],
    );
    const distance = (shape: readonly number[]): string =>
      w.floats(
        Array.from({ length: shape.reduce((n, m) => n * m) }, (_, n) => Math.sin(3 * n)),
        shape,
      );
    const rows = w.op('Add', [product, distance([8, 2, 3, 2, 1])]);
    const both = w.op('Add', [rows, distance([8, 2, 3, 1, 3])]);
    const p = w.softmax(w.reshape(both, [B * H, S, S]));
    return merged(w, w.reshape(w.op('MatMul', [p, v]), [B, H, S, D]));
  },
  'windows with a mask each': w => {
    // Two entries of two windows, with two heads each.
    const [q, k, v] = ['q', 'k', 'v'].map(x => w.reshape(inHeads(w, x), [4, 2, S, D])) as [
      string,
      string,
      string,
    ];
    const product = times(w, w.op('MatMul', [q, w.transpose(k, [0, 1, 3, 2])]), scale);
    const hidden = Array.from({ length: 2 * S * S }, (_, n) => (n % 7 === 3 ? -100 : 0));
    const masks = w.op('Unsqueeze', [w.floats(hidden, [2, S, S]), w.ints([0, 2])]);
    const masked = w.op('Add', [w.reshape(product, [2, 2, 2, S, S]), masks]);
    const p = w.softmax(w.reshape(masked, [-1, 2, S, S]));
    return merged(w, w.reshape(w.op('MatMul', [p, v]), [B, H, S, D]));
  },
  'einsums over heads side by side': w => {
    const [q, k, v] = ['q', 'k', 'v'].map(x => w.reshape(x, [0, 0, H, D])) as [string, string, string];
    const product = w.op('Einsum', [q, k], { equation: { string: 'bqhd,bkhd->bhqk' } });
    const p = w.softmax(w.op('Where', [causal(w), times(w, product, scale), w.floats([lowest])]));
    return w.reshape(w.op('Einsum', [p, v], { equation: { string: 'bhqk,bkhd->bqhd' } }), [0, 0, H * D]);
  },
  'a softmax that is written out': w => {
    const x = w.op('Add', [scores(w), additive(w)]);
    // Since version 18, the axes of ReduceMax are an input.
    const isEarly = w.opset < 18;
    const most = w.op('ReduceMax', isEarly ? [x] : [x, w.ints([-1])], {
      ...(isEarly && { axes: { ints: [-1] } }),
      keepdims: { int: 1 },
    });
    const e = w.op('Exp', [w.op('Sub', [x, most])]);
    const sum = w.op('ReduceSum', [e, w.ints([-1])], { keepdims: { int: 1 } });
    return values(w, w.op('Div', [e, sum]));
  },
  'a softcap': w => {
    const capped = times(w, w.op('Tanh', [w.op('Div', [scores(w), w.floats([5])])]), 5);
    return values(w, w.softmax(w.op('Add', [capped, additive(w)])));
  },
  'scores and values the other way round': w => {
    const product = w.op('MatMul', [inHeads(w, 'k'), columns(w, 'q')]);
    const p = w.softmax(times(w, w.transpose(product, [0, 1, 3, 2]), scale));
    const o = w.op('MatMul', [columns(w, 'v'), w.transpose(p, [0, 1, 3, 2])]);
    return merged(w, w.transpose(o, [0, 1, 3, 2]));
  },
};
