import { load } from '../../../expr/nodes/create-node.ts';
import type { Expr } from '../../../expr/nodes/expr.ts';
import { loads } from '../../../expr/nodes/walk.ts';
import { inputName } from '../../../primitive/element.ts';
import { broadcastStrides, offsetOf } from '../../../primitive/host/lines/reader.ts';
import { type DomainPart, domainParts, exprWithin, type ShiftedCoordinate } from './domain-parts.ts';
import { type LoopInput, type LoopOutput, type LoopPlan, planLoop } from './plan-loop.ts';

/**
 * Plans the loops that compute an expression over the parts of a domain. Within each part, tensors that are
 * concatenated, sliced or padded are read element by element. Null as in `planLoop`.
 */
export function planParts(
  expr: Expr,
  inputs: readonly LoopInput[],
  domain: readonly number[],
  output: LoopOutput,
): readonly LoopPlan[] | null {
  // Most expressions read every tensor element by element, along the whole domain.
  if (loads(expr).every(({ index }) => index.length === 0)) {
    const plan = planLoop(expr, inputs, domain, output);
    return plan && [plan];
  }
  const plans: LoopPlan[] = [];
  for (const part of domainParts(expr, domain)) {
    const plan = planPart(expr, inputs, domain, part, output);
    if (!plan) return null;
    plans.push(plan);
  }
  return plans;
}

function planPart(
  expr: Expr,
  inputs: readonly LoopInput[],
  domain: readonly number[],
  part: DomainPart,
  output: LoopOutput,
): LoopPlan | null {
  /** The loop's inputs that are read element by element, by input and steps. */
  const streams = new Map<string, LoopInput>();
  const within = exprWithin(expr, part, (e, index) => {
    const source = inputs.findIndex(({ name }) => name === e.name);
    const input = inputs[source];
    const read = index.length > 0 ? readAt(input, index, part) : readInLine(input, domain, part);
    if (!read) return null;
    const key = JSON.stringify([source, read]);
    const name = streams.get(key)?.name ?? inputName(inputs.length + streams.size);
    streams.set(key, { ...read, name, source, format: input.format, shape: part.shape });
    return load(name, [], e.type as 'f32');
  });
  const offset = offsetOf(part.start, output.strides);
  return planLoop(within, [...inputs, ...streams.values()], part.shape, { ...output, offset });
}

/** The first element that a part of the domain reads, and the steps from one element to the next. */
type Read = Required<Pick<LoopInput, 'offset' | 'strides'>>;

/** How to read a tensor that is broadcast to the domain. */
function readInLine(input: LoopInput, domain: readonly number[], { start }: DomainPart): Read {
  const strides = broadcastStrides(input, domain);
  return { offset: offsetOf(start, strides), strides };
}

/**
 * How to read a tensor at an index that moves along with the element and stays within the tensor; null for
 * other indices.
 */
function readAt(
  { shape, strides }: LoopInput,
  index: readonly (ShiftedCoordinate | null)[],
  part: DomainPart,
): Read | null {
  const steps = part.shape.map(() => 0);
  let from = 0;
  for (const [n, shifted] of index.entries()) {
    if (!shifted) return null;
    const { d, offset } = shifted;
    const first = offset + (d === null ? 0 : part.start[d]);
    const last = first + (d === null ? 0 : part.shape[d] - 1);
    if (first < 0 || last >= shape[n]) return null;
    from += first * strides[n];
    if (d !== null) steps[d] += strides[n];
  }
  return { offset: from, strides: steps };
}
