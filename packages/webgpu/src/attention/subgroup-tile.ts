import { subgroupLane } from '../kernel/subgroup-lane.ts';
import { keptRows, repeat, type SubgroupTile } from './tile.ts';
import {
  type Product,
  resultsOfLanes,
  type TileOperand,
  type TileWork,
  type WeightedSum,
  weightedPart,
} from './tile-work.ts';

/**
 * A lane keeps its rows' accumulators in registers, and gets the rows of the other side from its neighbours. One that keeps queries has the
 * scores that it needs; two that keep keys exchange theirs, since a score is computed for four keys at a time. That takes lanes of a
 * workgroup to be numbered as in their subgroup, which WGSL does not promise; on the adapters that the table has it for, tests show it.
 */
export function subgroupWork(tile: SubgroupTile): TileWork {
  return {
    parts: [subgroupLane, weightedPart],
    place:
      tile.own === 'queries'
        ? 'let tx = 0u;\n  let ty = lane;'
        : 'let tx = lane / 2u;\n  let ty = lane % 2u;\n  let is_second = ty == 1u;',
    keep: () => '',
    products: all => all.map(product => products(tile, product)).join('\n    '),
    accumulate: (...sums) => sums.map(sum => accumulate(tile, sum)).join('\n    '),
    ...resultsOfLanes({
      resultRows: keptRows,
      resultPlace: 'lane',
      vectors: D => Math.ceil(D / 4),
      vector: n => `${n}u`,
    }),
  };
}

/** Where a row starts. One beyond the end is taken for the last: it has weight 0 and no result. */
const rowAt = ({ row, first, end }: TileOperand, place: string): string =>
  row(`min(${first} + ${place}, ${end} - 1u)`);

/** The place of the row that this lane reads for its neighbours. */
const readPlace = ({ group }: SubgroupTile): string => `(subgroup_lane & ${group - 1}u)`;

const perKept = (text: (r: number) => string, separator = '\n    '): string =>
  repeat(keptRows, text, separator);

/** Each lane multiplies its rows with the rows of its neighbours: `INTOr_m`, of row r with the four rows m that are met. */
function products(tile: SubgroupTile, { into, a, b }: Product): string {
  const { own, group } = tile;
  const [kept, met] = own === 'queries' ? [a, b] : [b, a];
  const perMet = (text: (m: number) => string): string => repeat(group / 4, text, '\n      ');
  const sum = (r: number, m: number): string =>
    ['x', 'y', 'z', 'w']
      .map(x => {
        const row = `vec4f(${repeat(4, e => `met${4 * m + e}.${x}`, ', ')})`;
        return `${into}${r}_${m} = fma(vec4f(kept${r}.${x}), ${row}, ${into}${r}_${m});`;
      })
      .join('\n      ');
  return `${perKept(r => perMet(m => `var ${into}${r}_${m} = vec4f();`))}
    {
    ${perKept(r => `let kept_row${r} = ${rowAt(kept, `lane * ${keptRows}u + ${r}u`)};`)}
    let met_row = ${rowAt(met, readPlace(tile))};
    for (var d = 0u; d < ${kept.channels}; d += 4u) {
      ${perKept(r => `let kept${r} = ${kept.name}_load4(kept_row${r}, d);`)}
      let read = ${met.name}_load4(met_row, d);
      ${repeat(group, e => `let met${e} = subgroupBroadcast(read, ${e}u);`, '\n      ')}
      ${perKept(r => perMet(m => sum(r, m)))}
    }
    }
    ${own === 'queries' ? perKept(r => perMet(m => `let ${into}${(r * group) / 4 + m} = ${into}${r}_${m};`)) : exchangeProducts(tile, into)}`;
}

/**
 * Of two neighbours the first takes the first half of the queries that they have met, and the second the other half: for each, what
 * both have of it are four keys side by side.
 */
function exchangeProducts({ group }: SubgroupTile, into: string): string {
  const half = (r: number, of: 0 | 1): string =>
    group === 8 ? `${into}${r}_${of}` : `${into}${r}_0.${of === 0 ? 'xy' : 'zw'}`;
  return `${perKept(
    r => `let ${into}_mine${r} = select(${half(r, 0)}, ${half(r, 1)}, is_second);
    let ${into}_other${r} = subgroupShuffleXor(select(${half(r, 1)}, ${half(r, 0)}, is_second), 1u);`,
  )}
    ${repeat(group / 2, e => {
      const [mine, other] = ['mine', 'other'].map(whose => perKept(r => `${into}_${whose}${r}[${e}]`, ', '));
      return `let ${into}${e} = select(vec4f(${mine}, ${other}), vec4f(${other}, ${mine}), is_second);`;
    })}`;
}

/** Declares `all`: of each row that is met, the weights of this lane's rows with it. */
function gatherWeights({ own, group }: SubgroupTile, weight: (b: number) => string): string {
  if (own === 'queries') {
    const of = (e: number): string =>
      perKept(r => `${weight((r * group) / 4 + Math.floor(e / 4))}[${e % 4}]`, ', ');
    return `let all = array<vec2f, ${group}>(${repeat(group, e => `vec2f(${of(e)})`, ', ')});`;
  }
  const half = group / 2;
  return `${repeat(
    half,
    e => `let mine${e} = select(${weight(e)}.xy, ${weight(e)}.zw, is_second);
    let other${e} = subgroupShuffleXor(select(${weight(e)}.zw, ${weight(e)}.xy, is_second), 1u);`,
  )}
    let all = array<vec2f, ${group}>(${repeat(half, e => `select(mine${e}, other${e}, is_second)`, ', ')}, ${repeat(half, e => `select(other${e}, mine${e}, is_second)`, ', ')});`;
}

/**
 * Each neighbour reads one of the rows that are met, and shows it to all in its turn. Turns are a loop and vectors are not: a
 * text with both written out would take compilers minutes.
 */
function accumulate(tile: SubgroupTile, { into, weight, operand, watch }: WeightedSum): string {
  const vectors = Math.ceil(operand.D / 4);
  const perVector = (text: (n: number) => string, separator = '\n        '): string =>
    repeat(vectors, text, separator);
  const sum = (
    add: (sum: string, w: string, x: string) => string,
  ): string => `for (var turn = 0u; turn < ${tile.group}u; turn++) {
        let w = all[turn];
        ${perVector(
          n => `let met${n} = subgroupShuffle(read${n}, turn);
        ${perKept(r => `${into}${r}_${n} = ${add(`${into}${r}_${n}`, `w[${r}]`, `met${n}`)};`)}`,
        )}
      }`;
  return `{
    let met_row = ${rowAt(operand, readPlace(tile))};
    ${perVector(n => `let read${n} = ${operand.name}_load4(met_row, ${4 * n}u);`)}
    ${gatherWeights(tile, weight)}
    let garbage = ${watch} && (${perVector(n => `has_non_finite(read${n})`, ' || ')});
    if (subgroupAny(garbage)) {
      ${sum((sum, w, x) => `${sum} + weighted(${w}, ${x})`)}
    } else {
      ${sum((sum, w, x) => `fma(vec4f(${w}), ${x}, ${sum})`)}
    }
    }`;
}
