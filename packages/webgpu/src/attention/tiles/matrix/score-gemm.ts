import { repeat } from '../tile.ts';
import type { Product, Products, WeightedSum } from '../tile-backend.ts';
import {
  block,
  blocks,
  firstOfLane,
  kept,
  type MatrixTileShape,
  met,
  operandsMet,
  padding,
  poolOf,
  poolPitch,
  poolSize,
  scratchPitch,
  scratchSize,
  sidesOf,
  width,
} from './memory.ts';
import type { MatrixSpelling } from './spelling.ts';
import { stageKept, stageMet } from './stage.ts';

/** Rows of queries are those of left matrices, rows of keys columns of right ones. */
const sizesOf = ({
  own,
  matrix: { M, N },
}: MatrixTileShape): { readonly keptSize: number; readonly metSize: number } =>
  own === 'queries' ? { keptSize: M, metSize: N } : { keptSize: N, metSize: M };

const keptMatrix = (name: string, d: number, r: number): string => `kept_${name}_${d}_${r}`;

/** Declares the matrices of a subgroup's own rows, the r-th from channel d on, which come through the pool of those that they meet. */
export function keep(tile: MatrixTileShape, { load }: MatrixSpelling, product: Product): string {
  const { keeps, meets } = sidesOf(tile, product);
  const { keptSize } = sizesOf(tile);
  const { K } = tile.matrix;
  const rows = kept * tile.subgroups;
  const fitting = Math.floor((poolSize(tile, meets.D) / rows - padding(tile)) / width(block));
  const whole = blocks(keeps.D);
  return repeat(
    Math.ceil(whole / fitting),
    part => {
      const first = part * fitting;
      const count = Math.min(fitting, whole - first);
      const vectors = count * width(block);
      const stride = vectors + padding(tile);
      const matrices = repeat((count * block) / K, n =>
        repeat(kept / keptSize, r => {
          const value = load(tile.own === 'queries' ? 'left' : 'right', {
            in: poolOf(meets),
            offset: `(subgroup * ${kept}u + ${r * keptSize}u) * ${stride}u + ${(n * K) / 4}u`,
            stride,
            order: tile.own === 'queries' ? 'row_major' : 'col_major',
          });
          return `let ${keptMatrix(keeps.name, first * block + n * K, r)} = ${value};`;
        }),
      );
      return `${stageKept(tile, keeps, { pool: poolOf(meets), first: first * width(block), vectors })}\n    ${matrices}`;
    },
    '\n    ',
  );
}

/** Matrices of products, in `scratch` and from there in each lane's `INTOb`; first all that the tile meets gets into its pools. */
export function products(
  tile: MatrixTileShape,
  spelling: MatrixSpelling,
  all: Products,
  sums: readonly WeightedSum[],
): string {
  const operands = operandsMet(
    tile,
    all,
    sums.map(({ operand }) => operand),
  );
  const staged = operands.map(operand => ({
    operand,
    watch: sums.find(sum => sum.operand.name === operand.name)?.watch,
  }));
  return `${stageMet(tile, staged)}
    ${all.map((product, n) => multiply(tile, spelling, product, n)).join('\n    ')}
    workgroupBarrier();
    ${all.map((product, n) => read(tile, product, n)).join('\n    ')}`;
}

/** WGSL: where the n-th matrix of products of a subgroup is in `scratch`. */
const scratchAt = (tile: MatrixTileShape, n: number): string =>
  `own_scratch + ${n * tile.subgroups * scratchSize(tile)}u`;

function multiply(
  tile: MatrixTileShape,
  { zero, load, multiplyAccumulate, store }: MatrixSpelling,
  product: Product,
  n: number,
): string {
  const { own } = tile;
  const { keeps, meets } = sidesOf(tile, product);
  const { keptSize, metSize } = sizesOf(tile);
  const { K } = tile.matrix;
  const pitch = poolPitch(tile, meets.D);
  const sum = (m: number, r: number): string => `${product.into}_sum${m}_${r}`;
  const perSum = (text: (m: number, r: number) => string): string =>
    repeat(met / metSize, m => repeat(kept / keptSize, r => text(m, r)));
  const one = (d: number, m: number): string => {
    const other = load(own === 'queries' ? 'right' : 'left', {
      ...{ in: poolOf(meets), offset: `${m * metSize * pitch + (d * K) / 4}u`, stride: pitch },
      order: own === 'queries' ? 'col_major' : 'row_major',
    });
    const ownRows = (r: number): string => keptMatrix(keeps.name, d * K, r);
    return `{
      let met = ${other};
      ${repeat(
        kept / keptSize,
        r =>
          `${sum(m, r)} = ${own === 'queries' ? multiplyAccumulate(ownRows(r), 'met', sum(m, r)) : multiplyAccumulate('met', ownRows(r), sum(m, r))};`,
        '\n      ',
      )}
    }`;
  };
  const stored = (m: number, r: number): string => {
    const [row, column] = own === 'queries' ? [r * keptSize, m * metSize] : [m * metSize, r * keptSize];
    const stride = scratchPitch(tile);
    const offset = `${scratchAt(tile, n)} + ${row * stride + column / 4}u`;
    return store(sum(m, r), { in: 'scratch', offset, stride, order: 'row_major' });
  };
  return `${perSum((m, r) => `var ${sum(m, r)} = ${zero};`)}
    ${repeat((blocks(meets.D) * block) / K, d => repeat(met / metSize, m => one(d, m)))}
    ${perSum(stored)}`;
}

/** Declares the four vec4s of scores that are a lane's. */
function read(tile: MatrixTileShape, { into }: Product, n: number): string {
  const first = firstOfLane(tile, scratchPitch(tile));
  return repeat(4, b => `let ${into}${b} = scratch[${scratchAt(tile, n)} + ${first} + ${b}u];`, '\n    ');
}
