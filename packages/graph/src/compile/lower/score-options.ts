import { and, not } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import type { GraphNode } from '../../ir/node.ts';
import type { ScalarProduct, ScoreOptions, StepDiagonal, StepMod } from '../../ir/program/attention-step.ts';
import type { Value } from '../../ir/program/lowering.ts';
import { broadcastShapes } from '../../ir/tensor/shape.ts';
import { truth } from '../../ops/elementwise/numeric.ts';
import { indexOperations, type Link } from '../../passes/attention/score-chain.ts';
import { asHeads, type HeadLayout } from './heads.ts';
import type { MatchLowering } from './match-lowering.ts';
import { isScalar, OperandReader } from './operand-reader.ts';
import { indexAxis } from './place-expr.ts';

/** The options that the links of a chain have given so far. */
interface FoundOptions {
  scale: ScalarProduct['factors'];
  /** The cap c of c·tanh(s·x): null before the tanh, empty between the tanh and the product with c. */
  softcap: ScalarProduct['factors'] | null;
  bias: Value | null;
  mask: Value | null;
  diagonal: StepDiagonal | null;
  maskMod: StepMod | null;
  readonly fills: number[];
  scaledAfterMask: boolean;
}

/** Adds what a link gives; returns false if options cannot express the link after those before it. */
type LinkReader = (found: FoundOptions, link: Link, layout: HeadLayout, lowering: MatchLowering) => boolean;

const linkReaders: Readonly<Partial<Record<string, LinkReader>>> = {
  TypeCast: () => true,
  Multiply: addFactor,
  Divide: addFactor,
  Tanh: addTanh,
  Add: addBias,
  Select: addMask,
};

/** The links of a chain as options if they have the meaning and the order of options; else null. */
export function scoreOptions(
  links: readonly Link[],
  layout: HeadLayout,
  lowering: MatchLowering,
): ScoreOptions | null {
  const found: FoundOptions = {
    ...{ scale: [], softcap: null, bias: null },
    ...{ mask: null, diagonal: null, maskMod: null, fills: [], scaledAfterMask: false },
  };
  const isRead = (link: Link): boolean =>
    linkReaders[link.node.kind]?.(found, link, layout, lowering) ?? false;
  if (!links.every(isRead)) return null;
  const { scale, softcap, bias, mask, diagonal, maskMod, fills, scaledAfterMask } = found;
  return {
    scale: { factors: scale },
    ...(softcap && { softcap: { factors: softcap } }),
    ...(bias && { bias: bias.index }),
    ...(mask && { mask: mask.index }),
    ...(diagonal && { diagonal }),
    ...(maskMod && { maskMod }),
    ...{ fills, scaledAfterMask },
  };
}

const isMasked = ({ mask, diagonal, maskMod }: FoundOptions): boolean =>
  mask !== null || diagonal !== null || maskMod !== null;

/** The scalar that a tensor holds; null if the tensor has more elements or depends on positions. */
function scalarOf(tensor: number, { topology, value }: MatchLowering): Value | null {
  if (topology.producers.has(tensor) && indexOperations(tensor, topology).length > 0) return null;
  const scalar = value(tensor);
  return isScalar(scalar.desc.shape) ? scalar : null;
}

/** A product with a scalar, or a quotient by one: a factor of the scale, or the cap after a tanh. */
function addFactor(
  found: FoundOptions,
  { node, score: at }: Link,
  _: HeadLayout,
  lowering: MatchLowering,
): boolean {
  const inverse = node.kind === 'Divide';
  const factor = scalarOf(node.inputs[1 - at]?.id, lowering);
  if (!factor || found.bias || (inverse && at !== 0)) return false;
  const term = { value: factor.index, inverse };
  if (found.softcap === null) {
    found.scaledAfterMask ||= isMasked(found);
  } else {
    if (found.softcap.length > 0) return false;
    found.softcap = [term];
  }
  // In c·tanh(s·x), the scale compensates for the division by the cap c.
  found.scale = [...found.scale, term];
  return true;
}

function addTanh(found: FoundOptions): boolean {
  if (found.softcap || found.bias || isMasked(found)) return false;
  found.softcap = [];
  return true;
}

function addBias(
  found: FoundOptions,
  { node, score: at }: Link,
  layout: HeadLayout,
  { builder, topology, value }: MatchLowering,
): boolean {
  const other = node.inputs[1 - at]?.id;
  if (found.bias || indexOperations(other, topology).length > 0) return false;
  found.bias = asHeads(builder, value(other), layout, 'broadcast');
  return true;
}

/** A selection between the score and a scalar: a mask, the diagonal of a causal mask, or a mask mod. */
function addMask(
  found: FoundOptions,
  { node, score: at }: Link,
  layout: HeadLayout,
  lowering: MatchLowering,
): boolean {
  if (at === 0) return false;
  const keeps = at === 1;
  const fill = scalarOf(node.inputs[keeps ? 2 : 1].id, lowering);
  if (!fill) return false;
  found.fills.push(fill.index);
  const condition = node.inputs[0].id;
  if (indexOperations(condition, lowering.topology).length === 0) {
    const visible = visibleMask(lowering, lowering.value(condition), layout, keeps);
    found.mask = found.mask ? bothMasks(lowering, found.mask, visible) : visible;
    return true;
  }
  const diagonal = keeps && !found.diagonal ? diagonalOf(condition, layout, lowering) : null;
  if (diagonal) {
    found.diagonal = diagonal;
    return true;
  }
  const reader = new OperandReader(lowering, layout);
  const holds = reader.read(condition);
  if (holds === null || found.maskMod) return false;
  found.maskMod = { expr: keeps ? truth(holds) : not(truth(holds)), captures: reader.captures };
  return true;
}

function visibleMask(lowering: MatchLowering, condition: Value, layout: HeadLayout, keeps: boolean): Value {
  const { builder } = lowering;
  const mask = asHeads(builder, condition, layout, 'broadcast');
  if (keeps) return mask;
  const visible = builder.temporary(mask.desc.shape, 'bool');
  builder.map(not(input(0, 'bool')), [mask], visible);
  return visible;
}

function bothMasks({ builder }: MatchLowering, a: Value, b: Value): Value {
  const shape = broadcastShapes('mask', a.desc.shape, b.desc.shape) ?? [];
  const both = builder.temporary(shape, 'bool');
  builder.map(and(input(0, 'bool'), input(1, 'bool')), [a, b], both);
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
