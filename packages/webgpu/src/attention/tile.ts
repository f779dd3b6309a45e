import type { WgslPiece } from '@tilewise/philox/wgsl';
import { hasNonFinite } from '../wgsl/float-bits.ts';

/**
 * A tile of scores: `rows` queries × `cols` keys, worked on by a grid of tx × ty lanes, each with 4 × 4 of it. Operands
 * pass through workgroup memory in chunks, so that head size does not decide how much of it is needed.
 *
 * Nothing in the text of a kernel depends on a size: head sizes, lengths and masks' bounds are uniforms, so that problems
 * share compiled kernels. Only the number of vec4s that a lane accumulates is fixed when it is written.
 */
export interface Tile {
  /** Lanes across keys (and across channels of a result), and across queries. */
  readonly tx: number;
  readonly ty: number;
  /** vec4s of each row that one chunk holds while scores are computed. */
  readonly depth: number;
}

export const tileRows = ({ ty }: Tile): number => 4 * ty;
export const tileCols = ({ tx }: Tile): number => 4 * tx;
export const tileLanes = ({ tx, ty }: Tile): number => tx * ty;

/** vec4s of a result row that each lane holds; lane x has vectors x, x + tx, x + 2·tx, … */
export const vectorsPerLane = (D: number, { tx }: Tile): number => Math.ceil(D / 4 / tx);

/** vec4s from one row in workgroup memory to the next: an odd number, so that rows start in different banks. */
const pitch = (used: number): number => used + 1 - (used % 2);

const poolVectors = (tile: Tile): number => (tileRows(tile) + tileCols(tile)) * pitch(tile.depth);
const weightVectors = (tile: Tile): number =>
  Math.max(tileCols(tile) * pitch(tile.ty), tileRows(tile) * pitch(tile.tx));

/** Bytes of workgroup memory that a kernel on this tile needs. */
export const tileMemory = (tile: Tile): number =>
  16 * (poolVectors(tile) + weightVectors(tile)) + 4 * tileRows(tile) * tile.tx + 4;

/** Text for each of `n` numbers, joined. */
export const repeat = (n: number, text: (k: number) => string, separator = '\n'): string =>
  Array.from({ length: n }, (_, k) => text(k)).join(separator);

/**
 * Workgroup memory: `pool` holds operand chunks, `weights` the tile that multiplies an operand (probabilities or their
 * gradients), `row_partial` one partial result per row and lane, `garbage` whether an operand held a NaN or infinity. A key that a
 * query does not see has weight 0, and `weighted` keeps it from reaching the query as 0 · NaN.
 */
export function tileDeclarations(tile: Tile): string {
  return `var<workgroup> pool: array<vec4f, ${poolVectors(tile)}>;
var<workgroup> weights: array<vec4f, ${weightVectors(tile)}>;
var<workgroup> row_partial: array<f32, ${tileRows(tile) * tile.tx}>;
var<workgroup> garbage: atomic<u32>;

fn weighted(weight: f32, x: vec4f) -> vec4f {
  return select(weight * x, vec4f(), weight == 0.0);
}`;
}

export const tileRequires: readonly WgslPiece[] = [hasNonFinite];

/** Rows of a tensor from `first` on, up to `end`. All but D are WGSL expressions. */
export interface TileOperand {
  readonly name: string;
  /** Where row s starts, as `NAME_row` gives it. */
  readonly row: (s: string) => string;
  readonly first: string;
  readonly end: string;
  /** The head size: the uniform that holds it, and its value. */
  readonly channels: 'P.Dqk' | 'P.Dv';
  readonly D: number;
}

/** One matrix of products: declared as `into0`…`into3`, the lane's rows of `a` by its rows of `b`. */
export interface Product {
  readonly into: string;
  readonly a: TileOperand;
  readonly b: TileOperand;
}

/** Statements that put `depth` vec4s from channel d0 on of `count` rows into the pool; row r goes to place `slot`. */
function loadChunk(tile: Tile, operands: readonly TileOperand[], count: number, slot: string): string {
  const { depth } = tile;
  const load = ({ name, row, first, end }: TileOperand): string => `let s = ${first} + r;
      if (s < ${end} && d < channels) {
        x = ${name}_load4(${row('s')}, d);
      }`;
  const [one = '', other] = operands.map(load);
  return `for (var n = lane; n < ${count * depth}u; n += ${tileLanes(tile)}u) {
      let r = n / ${depth}u;
      let d = d0 + 4u * (n % ${depth}u);
      var x = vec4f();
      ${other === undefined ? one : `if (product == 0u) {\n      ${one}\n      } else {\n      ${other}\n      }`}
      pool[(${slot}) * ${pitch(depth)}u + n % ${depth}u] = x;
    }`;
}

/**
 * One or two matrices of products over the whole head size. Two go through the same loop, one after the other: their text
 * is most of a kernel, and compilers take much longer for twice as much.
 */
export function products(tile: Tile, all: readonly [Product] | readonly [Product, Product]): string {
  const [first, second] = all;
  if (!second) return sumOfProducts(tile, all, first.into, first.a.channels);
  const copy = ({ into }: Product): string => repeat(4, r => `${into}${r} = sum${r};`, '\n      ');
  return `${all.map(({ into }) => repeat(4, r => `var ${into}${r} = vec4f();`, '\n    ')).join('\n    ')}
    for (var product = 0u; product < 2u; product++) {
    ${sumOfProducts(tile, all, 'sum', `select(${first.a.channels}, ${second.a.channels}, product == 1u)`)}
    if (product == 0u) {
      ${copy(first)}
    } else {
      ${copy(second)}
    }
    }`;
}

/**
 * Declares `sum0`…`sum3` and adds the products of one matrix up. The four keys of a lane are neighbours, but tx places apart in the
 * pool, so that lanes side by side read side by side.
 */
function sumOfProducts(tile: Tile, all: readonly Product[], sum: string, channels: string): string {
  const { tx, depth } = tile;
  const p = pitch(depth);
  const rows = tileRows(tile);
  const rowsOf = (side: 'a' | 'b'): TileOperand[] => all.map(product => product[side]);
  return `let channels = ${channels};
    ${repeat(4, r => `var ${sum}${r} = vec4f();`, '\n    ')}
    for (var d0 = 0u; d0 < channels; d0 += ${4 * depth}u) {
    workgroupBarrier();
    ${loadChunk(tile, rowsOf('a'), rows, 'r')}
    ${loadChunk(tile, rowsOf('b'), tileCols(tile), `${rows}u + (r & 3u) * ${tx}u + (r >> 2u)`)}
    workgroupBarrier();
    let used = min(${depth}u, (channels - d0 + 3u) / 4u);
    for (var d = 0u; d < used; d++) {
      ${repeat(4, r => `let a${r} = pool[(ty * 4u + ${r}u) * ${p}u + d];`, '\n      ')}
      ${repeat(4, c => `let b${c} = pool[(${rows + c * tx}u + tx) * ${p}u + d];`, '\n      ')}
      ${repeat(4, r => `${sum}${r} += vec4f(${repeat(4, c => `dot(a${r}, b${c})`, ', ')});`, '\n      ')}
    }
    }`;
}

/** Stores this lane's 4 × 4 weights, row r (a query) in `value(r)`: vec4f over keys, for sums over keys. */
export function storeWeightsByKey({ ty }: Tile, value: (r: number) => string): string {
  return repeat(
    4,
    c =>
      `weights[(tx * 4u + ${c}u) * ${pitch(ty)}u + ty] = vec4f(${repeat(4, r => `${value(r)}[${c}]`, ', ')});`,
    '\n    ',
  );
}

/** The same for sums over queries. */
export function storeWeightsByQuery({ tx }: Tile, value: (r: number) => string): string {
  return repeat(4, r => `weights[(ty * 4u + ${r}u) * ${pitch(tx)}u + tx] = ${value(r)};`, '\n    ');
}

/** Declares the accumulators `NAMEr_n`: row r, the lane's n-th vector. */
export function accumulators(tile: Tile, name: string, D: number): string {
  return repeat(
    4,
    r => repeat(vectorsPerLane(D, tile), n => `var ${name}${r}_${n} = vec4f();`, '\n  '),
    '\n  ',
  );
}

/**
 * Adds weights · operand to the accumulators `NAMEr_n`. The sum runs over the tile's keys or queries; `watch` is a WGSL
 * condition: whether some weights may be 0 because their pair is not seen, so that garbage must be looked for. Rows and channels
 * beyond those that exist count as 0: what lies there is never read.
 */
export function accumulate(
  tile: Tile,
  name: string,
  operand: TileOperand,
  { over, watch }: { readonly over: 'keys' | 'queries'; readonly watch: string },
): string {
  const { row, first, end, channels, D } = operand;
  const perLane = vectorsPerLane(D, tile);
  const width = perLane * tile.tx;
  const length = over === 'keys' ? tileCols(tile) : tileRows(tile);
  const chunk = Math.min(length, 2 ** Math.floor(Math.log2(poolVectors(tile) / width)));
  const p = pitch(over === 'keys' ? tile.ty : tile.tx);
  const sum = (multiply: (w: string, x: string) => string): string => `for (var k = 0u; k < ${chunk}u; k++) {
        let w = weights[(k0 + k) * ${p}u + ty];
        ${repeat(perLane, n => `let x${n} = pool[k * ${width}u + ${n * tile.tx}u + tx];`, '\n        ')}
        ${repeat(4, r => repeat(perLane, n => `${name}${r}_${n} += ${multiply(`w[${r}]`, `x${n}`)};`, '\n        '), '\n        ')}
      }`;
  return `for (var k0 = 0u; k0 < ${length}u; k0 += ${chunk}u) {
      workgroupBarrier();
      for (var n = lane; n < ${chunk * width}u; n += ${tileLanes(tile)}u) {
        let s = ${first} + k0 + n / ${width}u;
        let d = 4u * (n % ${width}u);
        var x = vec4f();
        if (s < ${end} && d < ${channels}) {
          x = ${operand.name}_load4(${row('s')}, d);
        }
        if (${watch} && has_non_finite(x)) {
          atomicStore(&garbage, 1u);
        }
        pool[n] = x;
      }
      workgroupBarrier();
      if (atomicLoad(&garbage) == 0u) {
        ${sum((w, x) => `${w} * ${x}`)}
      } else {
        ${sum((w, x) => `weighted(${w}, ${x})`)}
      }
    }`;
}

/** Stores `value(r, n)` of every accumulator to a tensor's rows `first` + 4·ty + r below `end`. */
export function storeRows(
  tile: Tile,
  { name, row, first, end, channels, D }: TileOperand,
  value: (r: number, n: number) => string,
): string {
  const perLane = vectorsPerLane(D, tile);
  return repeat(
    4,
    r => `if (${first} + ty * 4u + ${r}u < ${end}) {
    let row = ${row(`(${first} + ty * 4u + ${r}u)`)};
    ${repeat(
      perLane,
      n => `if (4u * (${n * tile.tx}u + tx) < ${channels}) {
      ${name}_store4(row, 4u * (${n * tile.tx}u + tx), ${value(r, n)});
    }`,
      '\n    ',
    )}
  }`,
    '\n  ',
  );
}
