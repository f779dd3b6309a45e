import { elementCount, type Shape } from '@tilewise/core';
import { broadcastStrides, type IndexSpace, indexSpace } from '../access/index-space.ts';
import { byName, type PrimitiveTensors } from '../access/primitive-tensors.ts';
import type { ExpressionReads } from '../map/space-expression.ts';

/** The positions of a domain that has one result for each of its rows. */
export interface ReductionSpaces {
  /** The positions of the rows. */
  readonly kept: IndexSpace;
  /** The positions of the elements in a row. */
  readonly reduced: IndexSpace;
  /** Both together: the positions in the domain. */
  readonly space: IndexSpace;
  /** The tensor with the most elements, whose strides determine the order of the dimensions. */
  readonly main: string;
}

/** The spaces of expressions over a domain whose dimensions `axes` are reduced. */
export function reductionSpaces(
  domain: Shape,
  axes: readonly number[],
  reads: readonly ExpressionReads[],
  { inputs, outputs }: PrimitiveTensors,
): ReductionSpaces {
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
  const [kept, reduced] = [along(own), along(summed)];
  const [outer, inner] = [kept.dimensions, reduced.dimensions];
  const space: IndexSpace = {
    extents: [...kept.extents, ...reduced.extents],
    steps: Object.fromEntries(tensors.map(([name]) => [name, [...kept.steps[name], ...reduced.steps[name]]])),
    dimensions:
      outer &&
      inner &&
      dims.map(d =>
        axes.includes(d) ? kept.extents.length + inner[summed.indexOf(d)] : outer[own.indexOf(d)],
      ),
  };
  return { kept, reduced, space, main };
}
