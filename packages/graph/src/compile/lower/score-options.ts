import { and, not } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import type { GraphNode } from '../../ir/node.ts';
import type { ScoreOptions, StepDiagonal } from '../../ir/program/attention-step.ts';
import type { Value } from '../../ir/program/lowering.ts';
import { broadcastShapes } from '../../ir/tensor/shape.ts';
import { truth } from '../../ops/elementwise/numeric.ts';
import { indexOperations, type Link } from '../../passes/attention/score-chain.ts';
import { asHeads, type HeadLayout } from './heads.ts';
import type { MatchLowering } from './match-lowering.ts';
import { isScalar, OperandReader } from './operand-reader.ts';
import { indexAxis } from './place-expr.ts';

/**
 * Reads a link of a chain: returns the options that it adds to those of the links before it, or null if
 * options cannot express the link at this place.
 */
type LinkReader = (
  before: ScoreOptions,
  link: Link,
  layout: HeadLayout,
  lowering: MatchLowering,
) => Partial<ScoreOptions> | null;

const linkReaders: Readonly<Partial<Record<string, LinkReader>>> = {
  TypeCast: () => ({}),
  Multiply: scaled,
  Divide: scaled,
  Tanh: capped,
  Add: biased,
  Select: masked,
};

/** The links of a chain as options if they have the meaning and the order of options; else null. */
export function scoreOptions(
  links: readonly Link[],
  layout: HeadLayout,
  lowering: MatchLowering,
): ScoreOptions | null {
  let options: ScoreOptions = { scale: { factors: [] }, fills: [], scaledAfterMask: false };
  for (const link of links) {
    const added = linkReaders[link.node.kind]?.(options, link, layout, lowering);
    if (!added) return null;
    options = { ...options, ...added };
  }
  return options;
}

const isMasked = ({ mask, diagonal, maskMod }: ScoreOptions): boolean =>
  mask !== undefined || diagonal !== undefined || maskMod !== undefined;

/** The scalar that a tensor holds; null if the tensor has more elements or depends on positions. */
function scalarOf(tensor: number, { topology, value }: MatchLowering): number | null {
  if (topology.producers.has(tensor) && indexOperations(tensor, topology).length > 0) return null;
  const { desc, index } = value(tensor);
  return isScalar(desc.shape) ? index : null;
}

/** A product with a scalar, or a quotient by one: a factor of the scale, or after a tanh the cap. */
function scaled(
  before: ScoreOptions,
  { node, score: at }: Link,
  _: HeadLayout,
  lowering: MatchLowering,
): Partial<ScoreOptions> | null {
  const { scale, softcap, bias, scaledAfterMask } = before;
  const inverse = node.kind === 'Divide';
  const value = scalarOf(node.inputs[1 - at]?.id, lowering);
  if (value === null || bias !== undefined || (inverse && at !== 0) || softcap?.factors.length) return null;
  const factor = { value, inverse };
  return {
    // In c·tanh(s·x), the scale compensates for the division by the cap c.
    scale: { factors: [...scale.factors, factor] },
    ...(softcap
      ? { softcap: { factors: [factor] } }
      : { scaledAfterMask: scaledAfterMask || isMasked(before) }),
  };
}

/** A tanh; the product with the cap follows. */
function capped(before: ScoreOptions): Partial<ScoreOptions> | null {
  return before.softcap || before.bias !== undefined || isMasked(before)
    ? null
    : { softcap: { factors: [] } };
}

function biased(
  { bias }: ScoreOptions,
  { node, score: at }: Link,
  layout: HeadLayout,
  { builder, topology, value }: MatchLowering,
): Partial<ScoreOptions> | null {
  const other = node.inputs[1 - at]?.id;
  if (bias !== undefined || indexOperations(other, topology).length > 0) return null;
  return { bias: asHeads(builder, value(other), layout, 'broadcast').index };
}

/** A selection between the score and a scalar: a mask, the diagonal of a causal mask, or a mask mod. */
function masked(
  before: ScoreOptions,
  { node, score: at }: Link,
  layout: HeadLayout,
  lowering: MatchLowering,
): Partial<ScoreOptions> | null {
  if (at === 0) return null;
  const keeps = at === 1;
  const fill = scalarOf(node.inputs[keeps ? 2 : 1].id, lowering);
  if (fill === null) return null;
  const fills = [...before.fills, fill];
  const condition = node.inputs[0].id;
  if (indexOperations(condition, lowering.topology).length === 0) {
    const visible = visibleMask(lowering, lowering.value(condition), layout, keeps);
    return { fills, mask: withMask(lowering, before.mask, visible).index };
  }
  const diagonal = keeps && !before.diagonal ? diagonalOf(condition, layout, lowering) : null;
  if (diagonal) return { fills, diagonal };
  const reader = new OperandReader(lowering, layout);
  const holds = reader.read(condition);
  if (holds === null || before.maskMod) return null;
  return { fills, maskMod: { expr: keeps ? truth(holds) : not(truth(holds)), captures: reader.captures } };
}

function visibleMask(lowering: MatchLowering, condition: Value, layout: HeadLayout, keeps: boolean): Value {
  const { builder } = lowering;
  const mask = asHeads(builder, condition, layout, 'broadcast');
  if (keeps) return mask;
  const visible = builder.temporary(mask.desc.shape, 'bool');
  builder.map(not(input(0, 'bool')), [mask], visible);
  return visible;
}

/** Where both a mask, if there is one, and another one are true. */
function withMask({ builder }: MatchLowering, mask: number | undefined, other: Value): Value {
  if (mask === undefined) return other;
  const given = builder.valueAt(mask);
  const shape = broadcastShapes(given.desc.shape, other.desc.shape) ?? [];
  const both = builder.temporary(shape, 'bool');
  builder.map(and(input(0, 'bool'), input(1, 'bool')), [given, other], both);
  return both;
}

/** GreaterEqual(query index [+ scalar]* [− scalar]*, key index): the causal mask with a shifted diagonal. */
function diagonalOf(condition: number, { scores }: HeadLayout, lowering: MatchLowering): StepDiagonal | null {
  const { producers } = lowering.topology;
  const compare = producers.get(condition);
  if (compare?.kind !== 'GreaterEqual') return null;
  const axisAt = (tensor: number): number | null => {
    const node = producers.get(tensor);
    return node?.kind === 'GenIndex' ? indexAxis(node, lowering.desc(tensor).shape, scores) : null;
  };
  if (axisAt(compare.inputs[1].id) !== -1) return null;
  const offset: StepDiagonal['offset'][number][] = [];
  let row = compare.inputs[0].id;
  for (;;) {
    const node: GraphNode | undefined = producers.get(row);
    if (node?.kind === 'GenIndex') return axisAt(row) === -2 ? { offset } : null;
    if (node?.kind !== 'Add' && node?.kind !== 'Subtract') return null;
    const at = producers.has(node.inputs[0].id) ? 0 : 1;
    if (node.kind === 'Subtract' && at === 1) return null;
    const other = node.inputs[1 - at].id;
    const source = producers.get(other);
    if (source && source.kind !== 'Constant') return null;
    const value = lowering.value(other);
    if (!isScalar(value.desc.shape)) return null;
    offset.push({ value: value.index, negative: node.kind === 'Subtract' });
    row = node.inputs[at].id;
  }
}
