import type { Shape } from '@tilewise/core';
import { type Expr, load } from '@tilewise/core/expr';
import { exprType } from '../../ir/program/expr.ts';
import type { Value } from '../../ir/program/lowering.ts';
import type { Topology } from '../../ir/topology.ts';
import { indexOperations } from '../../passes/attention/score-chain.ts';
import { asHeads, type HeadLayout } from './heads.ts';
import type { MatchLowering } from './match-lowering.ts';
import { axisIndex, indexAxis, placeIn, zero } from './place-expr.ts';

/** Reads operands of a chain as expressions, and collects their captures. */
export class OperandReader {
  readonly captures: Record<string, number> = {};
  readonly #names = new Map<number, string>();
  readonly #lowering: MatchLowering;
  readonly #layout: HeadLayout;
  readonly #scores: Shape;
  readonly #topology: Topology;

  constructor(lowering: MatchLowering, layout: HeadLayout, scores: Shape, topology: Topology) {
    this.#lowering = lowering;
    this.#layout = layout;
    this.#scores = scores;
    this.#topology = topology;
  }

  /** The element of a tensor at a place of the scores; null for a tensor that a score cannot read. */
  read(tensor: number): Expr | null {
    if (indexOperations(tensor, this.#topology).length > 0) return this.#index(tensor);
    const value = this.#lowering.value(tensor);
    const type = exprType(value.desc.dtype);
    if (isScalar(value.desc.shape)) {
      return load(
        this.#capture(tensor, () => this.#lowering.builder.view(value, [1], [0])),
        [0],
        type as 'f32',
      );
    }
    let shape: readonly number[] = [];
    const name = this.#capture(
      tensor,
      () =>
        asHeads(this.#lowering.builder, rankTwo(this.#lowering.builder, value), this.#layout, 'broadcast'),
      own => {
        shape = own;
      },
    );
    return load(name, placeIn(shape), type as 'f32');
  }

  #index(tensor: number): Expr | null {
    const known = this.#indices.get(tensor);
    if (known !== undefined) return known;
    const made = this.#indexExpr(tensor);
    this.#indices.set(tensor, made);
    return made;
  }

  #indexExpr(tensor: number): Expr | null {
    const node = this.#topology.producers.get(tensor);
    if (!node) return null;
    if (node.kind === 'GenIndex') {
      const axis = indexAxis(node, this.#lowering.desc(tensor).shape, this.#scores);
      return axis === null ? zero : axisIndex(axis, this.#layout);
    }
    const operands = node.inputs.map(t => this.read(t.id));
    if (operands.includes(null)) return null;
    return node.operation.element?.(operands as Expr[], node.attributes) ?? null;
  }

  readonly #indices = new Map<number, Expr | null>();
  readonly #shapes = new Map<string, readonly number[]>();

  #capture(tensor: number, make: () => Value, seen: (shape: readonly number[]) => void = () => {}): string {
    let name = this.#names.get(tensor);
    if (name === undefined) {
      name = `t${this.#names.size}`;
      const value = make();
      this.#names.set(tensor, name);
      this.captures[name] = value.index;
      this.#shapes.set(name, value.desc.shape);
    }
    seen(this.#shapes.get(name) ?? []);
    return name;
  }
}

/** Whether a tensor of this shape is one number. */
export function isScalar(shape: readonly number[]): boolean {
  return shape.every(n => n === 1);
}

/** A tensor with at least the two dimensions of queries and keys. */
export function rankTwo(builder: MatchLowering['builder'], value: Value): Value {
  const { shape, strides } = value.desc;
  const lead = Math.max(2 - shape.length, 0);
  if (lead === 0) return value;
  return builder.view(
    value,
    [...new Array<number>(lead).fill(1), ...shape],
    [...new Array<number>(lead).fill(0), ...strides],
  );
}
