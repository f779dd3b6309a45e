import { add, floorDiv, lt, mod, mul, type NumericExpr, select, sub } from '@tilewise/core/expr';
import { coordinate, input, inputAt } from '@tilewise/core/primitive';
import { InvalidGraphError } from '../../errors.ts';
import type { Value } from '../../ir/program/lowering.ts';
import { defineOperations } from '../../ir/schema/define.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { UNKNOWN } from '../../ir/tensor/logical-tensor.ts';
import { agree, broadcastShapes, refuse } from '../../ir/tensor/shape.ts';

export const rotarySchemas = {
  RotaryEmbedding: {
    inputs: 'src:T cos:U sin:U',
    outputs: 'dst:T',
    attributes: {
      interleaved: { type: 'bool', default: false },
      inverse: { type: 'bool', default: false },
    },
  },
} as const;

/**
 * An element of a table. The table has one entry per pair in its last dimension, and broadcasts to the
 * result's other dimensions.
 */
function tableEntry(n: number, table: Value, rank: number, pair: NumericExpr): NumericExpr {
  const { shape } = table.desc;
  const lead = rank - shape.length;
  const index = shape.map((extent, d) => {
    if (d === shape.length - 1) return pair;
    return extent === 1 ? mul(coordinate(0), 0) : coordinate(lead + d);
  });
  return inputAt(n, index);
}

/** Refuses the gradients of the tables, because angles are not usually learned. */
function noGradientByTable(): never {
  throw new InvalidGraphError(
    'RotaryEmbedding has no gradient with respect to cos and sin: to learn angles, use Multiply and Add',
  );
}

/** Rotary position embedding (Su et al. 2021, RoFormer, equation 34). */
export const rotaryOperations: readonly Operation[] = defineOperations(rotarySchemas, {
  /**
   * Rotates pairs (a, b) of the last dimension to (a·cos − b·sin, b·cos + a·sin): pairs of neighbours with
   * `interleaved`, else elements i and i + R/2. The tables cos and sin, of shape (…, R/2), broadcast to src.
   * Elements from R on are copied. `inverse` rotates back.
   */
  RotaryEmbedding: {
    infer: ({ inputs: [{ shape }, cos, sin] }) => {
      if (shape === null || cos.shape === null || sin.shape === null) return [shape];
      const lead = shape.slice(0, -1);
      const leading = broadcastShapes(lead, cos.shape.slice(0, -1));
      const [width] = shape.slice(-1);
      const [pairs] = cos.shape.slice(-1);
      const fits =
        agree(cos.shape, sin.shape) &&
        agree(leading ?? [], lead) &&
        (2 * pairs <= width || width === UNKNOWN);
      if (!fits) refuse(`cannot rotate [${shape}] by tables [${cos.shape}] and [${sin.shape}]`);
      return [shape];
    },
    gradient: ({ builder, attributes: { interleaved, inverse }, inputs: [, cos, sin], dy }) => {
      const tables = [builder.forward(cos), builder.forward(sin)];
      return [
        () => builder.op('RotaryEmbedding', [dy, ...tables], { interleaved, inverse: !inverse }),
        noGradientByTable,
        noGradientByTable,
      ];
    },
    python: ({ attributes: { interleaved, inverse }, inputs: [{ shape }] }) => {
      return shape && { name: 'rotary', whole: [shape.length - 1], options: { interleaved, inverse } };
    },
    lower: ({ map, inputs: [src, cos, sin], outputs: [dst] }, { attributes: { interleaved, inverse } }) => {
      const rank = src.desc.shape.length;
      const pairs = cos.desc.shape[cos.desc.shape.length - 1];
      const at = coordinate(rank - 1);
      const isFirst = interleaved ? lt(mod(at, 2), 1) : lt(at, pairs);
      const distance = interleaved ? 1 : pairs;
      const pair = interleaved ? floorDiv(at, 2) : select(isFirst, at, sub(at, pairs));
      const other = inputAt(0, [
        ...Array.from({ length: rank - 1 }, (_, d) => coordinate(d)),
        select(isFirst, add(at, distance), sub(at, distance)),
      ]);
      const [c, s] = [tableEntry(1, cos, rank, pair), tableEntry(2, sin, rank, pair)];
      const sign = select(isFirst, inverse ? 1 : -1, inverse ? -1 : 1);
      const rotated = add(mul(input(0), c), mul(sign, mul(other, s)));
      map(select(lt(at, 2 * pairs), rotated, input(0)), [src, cos, sin], dst);
    },
  },
});
