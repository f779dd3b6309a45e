import {
  kept,
  type MatrixTileShape,
  met,
  perChunk,
  poolPitch,
  scratchPitch,
  stage,
} from './matrix-layout.ts';
import type { MatrixPlace, MatrixSpelling } from './matrix-spelling.ts';
import { repeat } from './tile.ts';
import type { Product, TileOperand } from './tile-work.ts';

/** Of a product, whose rows subgroups keep, and whose they meet. */
const sidesOf = (
  tile: MatrixTileShape,
  { a, b }: Product,
): { readonly keeps: TileOperand; readonly meets: TileOperand } =>
  tile.own === 'queries' ? { keeps: a, meets: b } : { keeps: b, meets: a };

/** Rows of queries are those of left matrices, rows of keys columns of right ones. */
const sizesOf = ({
  own,
  matrix: { M, N },
}: MatrixTileShape): { readonly keptSize: number; readonly metSize: number } =>
  own === 'queries' ? { keptSize: M, metSize: N } : { keptSize: N, metSize: M };

/** Declares `kept_NAME_d_r`: a subgroup's own rows, the r-th matrix of them, from channel d on. */
export function keep(tile: MatrixTileShape, { load }: MatrixSpelling, product: Product): string {
  const { keeps } = sidesOf(tile, product);
  const { keptSize } = sizesOf(tile);
  const { K } = tile.matrix;
  return perChunk(
    keeps.D,
    (d0, channels) => `workgroupBarrier();
    ${stage(tile, keeps, kept * tile.subgroups, d0)}
    workgroupBarrier();
    ${repeat(channels / K, d =>
      repeat(kept / keptSize, r => {
        const offset = `(subgroup * ${kept}u + ${r * keptSize}u) * ${poolPitch}u + ${d * K}u`;
        const value = load(tile.own === 'queries' ? 'left' : 'right', {
          ...{ in: 'pool', offset, stride: poolPitch },
          order: tile.own === 'queries' ? 'row_major' : 'col_major',
        });
        return `let kept_${keeps.name}_${d0 + d * K}_${r} = ${value};`;
      }),
    )}`,
  );
}

/** One matrix of products, in `scratch` and from there in each lane's `INTOb`. */
export function products(
  tile: MatrixTileShape,
  { zero, load, multiplyAccumulate, store }: MatrixSpelling,
  product: Product,
): string {
  const { own } = tile;
  const { keeps, meets } = sidesOf(tile, product);
  const { keptSize, metSize } = sizesOf(tile);
  const { K } = tile.matrix;
  const pitch = scratchPitch[own];
  const sum = (m: number, r: number): string => `${product.into}_sum${m}_${r}`;
  const perSum = (text: (m: number, r: number) => string): string =>
    repeat(met / metSize, m => repeat(kept / keptSize, r => text(m, r)));
  const multiply = (d0: number, d: number, m: number): string => {
    const other = load(own === 'queries' ? 'right' : 'left', {
      ...{ in: 'pool', offset: `${m * metSize * poolPitch + d * K}u`, stride: poolPitch },
      order: own === 'queries' ? 'col_major' : 'row_major',
    });
    const one = (r: number): string => `kept_${keeps.name}_${d0 + d * K}_${r}`;
    return `{
      let met = ${other};
      ${repeat(
        kept / keptSize,
        r =>
          `${sum(m, r)} = ${own === 'queries' ? multiplyAccumulate(one(r), 'met', sum(m, r)) : multiplyAccumulate('met', one(r), sum(m, r))};`,
        '\n      ',
      )}
    }`;
  };
  const place = (m: number, r: number): MatrixPlace => {
    const [row, column] = own === 'queries' ? [r * keptSize, m * metSize] : [m * metSize, r * keptSize];
    return {
      in: 'scratch',
      offset: `own_scratch + ${row * pitch + column}u`,
      stride: pitch,
      order: 'row_major',
    };
  };
  const first = own === 'queries' ? `subgroup_lane / 2u * ${pitch}u + tx * 16u` : `subgroup_lane * ${pitch}u`;
  const element = (b: number, e: number): string => `scratch[own_scratch + ${first} + ${4 * b + e}u]`;
  return `${perSum((m, r) => `var ${sum(m, r)} = ${zero};`)}
    ${perChunk(
      meets.D,
      (d0, channels) => `workgroupBarrier();
    ${stage(tile, meets, met, d0)}
    workgroupBarrier();
    ${repeat(channels / K, d => repeat(met / metSize, m => multiply(d0, d, m)))}`,
    )}
    ${perSum((m, r) => store(sum(m, r), place(m, r)))}
    workgroupBarrier();
    ${repeat(4, b => `let ${product.into}${b} = vec4f(${repeat(4, e => element(b, e), ', ')});`, '\n    ')}`;
}
