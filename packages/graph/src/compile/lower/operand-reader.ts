import { type Expr, load, toF32 } from '@tilewise/core/expr';
import { exprType } from '../../ir/program/expr.ts';
import type { Value } from '../../ir/program/lowering.ts';
import { floats } from '../../ir/schema/ports.ts';
import { indexOperations } from '../../passes/attention/score-chain.ts';
import { asHeads, type HeadLayout } from './heads.ts';
import type { MatchLowering } from './match-lowering.ts';
import { axisIndex, indexAxis, placeIn, zero } from './place-expr.ts';

/** Reads operands of a chain as expressions, and collects their captures. */
export class OperandReader {
  readonly captures: Record<string, number> = {};
  readonly #lowering: MatchLowering;
  readonly #layout: HeadLayout;
  /** The expressions of tensors that have been read, by tensor id. */
  readonly #read = new Map<number, Expr | null>();

  constructor(lowering: MatchLowering, layout: HeadLayout) {
    this.#lowering = lowering;
    this.#layout = layout;
  }

  /** The element of a tensor at a score's position; null for a tensor that a score cannot read. */
  read(tensor: number): Expr | null {
    const known = this.#read.get(tensor);
    if (known !== undefined) return known;
    const isIndex = indexOperations(tensor, this.#lowering.topology).length > 0;
    const made = isIndex ? this.#index(tensor) : this.#capture(this.#lowering.value(tensor));
    this.#read.set(tensor, made);
    return made;
  }

  #index(tensor: number): Expr | null {
    const { topology, desc } = this.#lowering;
    const node = topology.producers.get(tensor);
    if (!node) return null;
    if (node.kind === 'GenIndex') {
      const axis = indexAxis(node, desc(tensor).shape, this.#layout.scores);
      return axis === null ? zero : axisIndex(axis, this.#layout);
    }
    const operands = node.inputs.map(t => this.read(t.id));
    if (operands.includes(null)) return null;
    if (node.kind === 'TypeCast')
      return floats.includes(node.outputs[0].dtype) ? toF32(operands[0] as Expr) : null;
    return node.operation.element?.(operands as Expr[], node.attributes) ?? null;
  }

  #capture(value: Value): Expr {
    const { builder } = this.#lowering;
    const { shape, dtype } = value.desc;
    const type = exprType(dtype) as 'f32';
    const name = `t${Object.keys(this.captures).length}`;
    const own = isScalar(shape)
      ? builder.view(value, [1], [0])
      : asHeads(builder, value, this.#layout, 'broadcast');
    this.captures[name] = own.index;
    return load(name, isScalar(shape) ? [0] : placeIn(own.desc.shape), type);
  }
}

/** Whether a tensor of this shape has one element. */
export function isScalar(shape: readonly number[]): boolean {
  return shape.every(n => n === 1);
}
