import { elementCount, type Shape } from '@tilewise/core';
import type { Expr } from '@tilewise/core/expr';
import { isCpu } from '../../device/capabilities/broadcasting.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import { broadcastStrides, type IndexSpace, indexSpace, placesIn } from '../access/index-space.ts';
import { expressionReads } from '../map/placed-expression.ts';
import { byName, type PrimitiveTensors } from '../primitive-kernels.ts';
import type { Workload } from './strands.ts';

/** The places of a domain that has a result for each of its rows. */
export interface ReductionSpaces {
  /** The rows. */
  readonly kept: IndexSpace;
  /** The elements of a row. */
  readonly joined: IndexSpace;
  /** Both: places in the domain. */
  readonly space: IndexSpace;
  /** The tensor with the most elements, by whose steps the dimensions are in order. */
  readonly main: string;
}

/** The spaces of expressions over a domain whose dimensions `axes` are reduced. */
export function reductionSpaces(
  domain: Shape,
  axes: readonly number[],
  exprs: readonly Expr[],
  { inputs, outputs }: PrimitiveTensors,
): ReductionSpaces {
  const reads = exprs.map(expressionReads);
  const read = new Set(reads.flatMap(({ here }) => here));
  const tensors = Object.entries(byName(inputs, outputs, desc => desc)).filter(
    ([name], n) => n >= inputs.length || read.has(name),
  );
  const main = tensors.reduce((most, next) =>
    elementCount(next[1].shape) > elementCount(most[1].shape) ? next : most,
  )[0];
  const dims = domain.map((_, d) => d);
  const [own, summed] = [dims.filter(d => !axes.includes(d)), dims.filter(d => axes.includes(d))];
  const strides = tensors.map(([name, desc]) => [name, broadcastStrides(desc, domain)] as const);
  const along = (some: readonly number[]): IndexSpace =>
    indexSpace(
      some.map(d => domain[d]),
      Object.fromEntries(strides.map(([name, steps]) => [name, some.map(d => steps[d])])),
      main,
      reads.some(({ coordinates }) => coordinates),
    );
  const [kept, joined] = [along(own), along(summed)];
  const space: IndexSpace = {
    extents: [...kept.extents, ...joined.extents],
    steps: Object.fromEntries(tensors.map(([name]) => [name, [...kept.steps[name], ...joined.steps[name]]])),
    dimensions: dimensionsOf(kept, joined, own, summed),
  };
  return { kept, joined, space, main };
}

/** The work of a reduction, which goes through its largest tensor. */
export function workloadOf({ kept, joined, main }: ReductionSpaces, capabilities: Capabilities): Workload {
  return {
    ...{ places: placesIn(kept), depth: placesIn(joined), onCpu: isCpu(capabilities) },
    ...{ keptStep: kept.steps[main].at(-1) ?? 0, joinedStep: joined.steps[main].at(-1) ?? 0 },
  };
}

/** By dimension of a domain, the one of the kept and then the joined dimensions that it has become. */
function dimensionsOf(
  kept: IndexSpace,
  joined: IndexSpace,
  own: readonly number[],
  summed: readonly number[],
): readonly number[] | null {
  const [outer, inner] = [kept.dimensions, joined.dimensions];
  if (!outer || !inner) return null;
  const found: number[] = [];
  own.forEach((d, n) => {
    found[d] = outer[n];
  });
  summed.forEach((d, n) => {
    found[d] = kept.extents.length + inner[n];
  });
  return found;
}
