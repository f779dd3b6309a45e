import { type ShaderPart, u32Uniforms } from '../../codegen/shader-part.ts';
import { loopedVectors } from '../tiles/scores/score-vectors.ts';
import { type Tile, tileSize } from '../tiles/tile.ts';
import type { CaptureTable } from './capture-table.ts';
import { positionArguments } from './score-mods.ts';

/** The text that adds the gradients of a tile of scores to the tables of a workgroup. */
export interface TableSums {
  readonly part: ShaderPart;
  readonly declarations: string;
  /** Statements that declare `table`, the table of the lane, and set the elements that the lane owns to 0. */
  readonly start: string;
  /**
   * Statements that add a tile for load `n` of the score mod: each score adds its `ds` times the derivative
   * with respect to the element that the load reads to this element.
   */
  add(n: number): string;
  /** Statements that add the tables of the workgroup to the first of them. */
  readonly finish: string;
}

/** Whether each lane adds its scores to a table of its own. */
const isPrivate = (tile: Tile, { tables }: CaptureTable): boolean => tables === tileSize(tile.grid).lanes;

/** The bytes of workgroup memory in which lanes exchange pairs of an element and a value. */
export const pairBytes = (tile: Tile, table: CaptureTable): number =>
  isPrivate(tile, table) ? 0 : 32 * tileSize(tile.grid).lanes;

/**
 * Sums without atomics, which give the same bits in every run. The lanes that share a table compute pairs of
 * an element and a value together. Then each of these lanes loops over all pairs in order, and adds those
 * whose elements belong to it: every lane owns one residue class of the table's vectors. A lane with a table
 * of its own adds its pairs directly.
 */
export function tableSums(tile: Tile, table: CaptureTable): TableSums {
  const { lanes } = tileSize(tile.grid);
  const owners = lanes / table.tables;
  const alone = isPrivate(tile, table);
  const vectors = loopedVectors(tile.grid);
  const values = ['ds', 'unmodified'];
  const exchange = `workgroupBarrier();
      pair_values[lane] = values;
      pair_elements[lane] = elements;
      workgroupBarrier();
      // The pairs of the lanes that share this table.
      for (var n = lane / ${owners}u * ${owners}u; n < (lane / ${owners}u + 1u) * ${owners}u; n++) {
        for (var c = 0u; c < 4u; c++) {
          let element = pair_elements[n][c];
          if (element != nowhere && element / 2u % ${owners}u == lane % ${owners}u) {
            add_pair(table, element, pair_values[n][c], &vector, &sum);
          }
        }
      }`;
  const direct = `for (var c = 0u; c < 4u; c++) {
        if (elements[c] != nowhere) {
          add_pair(table, elements[c], values[c], &vector, &sum);
        }
      }`;
  return {
    part: {
      uniforms: u32Uniforms({ table_vectors: table.vectors, group_vectors: table.vectors * table.tables }),
    },
    declarations: `const nowhere = 0xffffffffu;
${alone ? '' : `var<workgroup> pair_values: array<vec4f, ${lanes}>;\nvar<workgroup> pair_elements: array<vec4u, ${lanes}>;`}

fn add_vector(table: u32, vector: u32, sum: vec2f) {
  if (vector != nowhere) {
    partial_sums[table + vector] += sum;
  }
}

// Consecutive pairs of the same table vector are summed before they are added, so that sums stay short.
fn add_pair(table: u32, element: u32, value: f32, vector: ptr<function, u32>, sum: ptr<function, vec2f>) {
  if (element / 2u != *vector) {
    add_vector(table, *vector, *sum);
    *vector = element / 2u;
    *sum = vec2f();
  }
  *sum += select(vec2f(value, 0.0), vec2f(0.0, value), element % 2u == 1u);
}`,
    start: `let tables = P.partial_sums_base + group * P.group_vectors;
  let table = tables + lane / ${owners}u * P.table_vectors;
  for (var n = lane % ${owners}u; n < P.table_vectors; n += ${owners}u) {
    partial_sums[table + n] = vec2f();
  }`,
    add: n => `{
    ${tile.backend.scoreVectors.isLoop ? '' : vectors.declare(values, [])}
    var vector = nowhere;
    var sum = vec2f();
    ${vectors.each(
      ({ row, key, of }) => `let i = i + ${row};
      let j = ${key};
      let ds = ${of('ds')};
      let unmodified = ${of('unmodified')};
      var values = vec4f();
      var elements = vec4u(nowhere);
      for (var c = 0u; c < 4u; c++) {
        let derivative = load${n}_derivative(unmodified[c], ${positionArguments});
        // The derivative may be NaN for a masked pair. On Vulkan, != would be false for a NaN.
        if (!(ds[c] == 0.0 || derivative == 0.0)) {
          values[c] = ds[c] * derivative;
          elements[c] = load${n}_element(unmodified[c], ${positionArguments});
        }
      }
      ${alone ? direct : exchange}`,
    )}
    add_vector(table, vector, sum);
    }`,
    finish: `// Add the tables of the workgroup to the first.
  storageBarrier();
  for (var n = lane; n < P.table_vectors; n += ${lanes}u) {
    var sum = vec2f();
    for (var at = n; at < P.group_vectors; at += P.table_vectors) {
      sum += partial_sums[tables + at];
    }
    partial_sums[tables + n] = sum;
  }`,
  };
}
