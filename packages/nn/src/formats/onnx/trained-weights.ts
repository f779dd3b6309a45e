import type { Tensor } from '@tilewise/core';
import type { OnnxGraph } from '@tilewise/graph/onnx';
import { transpose, type Variable } from '@tilewise/graph/ops';
import type { LinearShape, Scope } from '../../architectures/transformer/scope.ts';
import { linearLayers } from './linear-layers.ts';
import { tiedWeights } from './tied-weights.ts';

/** The weights of an imported graph that are trained. */
export interface TrainedWeights {
  /** The weights by their names here; of tied weights, only the first. */
  readonly values: ReadonlyMap<string, Tensor>;
  /** The linear layers, which may have adapters. */
  readonly linear: ReadonlyMap<string, LinearShape>;
  /**
   * A weight as a variable of a traced function; null for a weight that is not trained.
   * @param name the name of the weight in the file.
   */
  variable(scope: Scope, name: string, shape: readonly number[]): Variable | null;
}

/**
 * The weights of an imported graph that are trained.
 * @param prefix see `LoadOnnxOptions`, like `isTrained`.
 */
export function trainedWeights(
  graph: OnnxGraph,
  prefix: string,
  isTrained: ((name: string) => boolean) | undefined,
): TrainedWeights {
  const linear = [...linearLayers(graph).values()];
  /** The names of weights here, by their names in the file. */
  const names = new Map(Object.keys(graph.weights).map(name => [name, withoutPrefix(name, prefix)] as const));
  for (const { layer, weight } of linear)
    if (layer !== weight) names.set(weight, `${withoutPrefix(layer, prefix)}.weight`);
  const layers = new Set(linear.map(({ weight }) => names.get(weight)));
  const isParameter = (name: string, value: Tensor): boolean =>
    layers.has(name) || (name.includes('.') && !/inv_freq$/.test(name) && !isMask(value));
  const trained = new Map<string, Tensor>();
  for (const [fileName, { value }] of Object.entries(graph.weights)) {
    const name = names.get(fileName) as string;
    if (isTrained ? isTrained(name) : isParameter(name, value)) trained.set(name, value);
  }
  const tied = tiedWeights(trained);
  return {
    values: new Map([...trained].filter(([name]) => !tied.has(name))),
    linear: new Map(linear.map(({ layer, shape }) => [withoutPrefix(layer, prefix), shape] as const)),
    variable(scope, name, shape) {
      const known = names.get(name) ?? withoutPrefix(name, prefix);
      const tie = tied.get(known);
      if (tie?.isTransposed)
        return transpose(scope.parameter(tie.weight, [...shape].reverse(), 'random'), [1, 0]);
      return trained.has(known) ? scope.parameter(tie?.weight ?? known, shape, 'random') : null;
    },
  };
}

/** A name in a file without the prefix that the exporter put before it. */
export function withoutPrefix(name: string, prefix: string): string {
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/** Whether a tensor looks like an additive mask: one of its numbers is −1e4 or less. */
function isMask(value: Tensor): boolean {
  return value.toFloat64().some(x => !(x > -1e4));
}
