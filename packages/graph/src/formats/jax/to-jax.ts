import type { Graph } from '../../graph.ts';
import { type ExportedModel, exportedModel } from '../python/exported-model.ts';
import type { ExportOptions } from '../python/options.ts';
import { packageFiles } from '../python/package-files.ts';
import { jaxDialect } from './dialect.ts';
import { readme } from './readme.ts';
import { runtimeFiles } from './runtime-files.ts';

/**
 * A graph as a Python package that needs JAX alone: a function that computes what the graph computes, to be
 * differentiated by JAX, on one device or, by `shard_map`, on a mesh of batch × sequence with ring attention
 * and with dropout masks that no sharding changes. All ranks have equal parts: the extents must divide.
 * @param graph a forward graph; JAX makes its gradients. One that `gradients` made is exported for one
 * device.
 * @returns files by their paths inside a folder.
 * @throws UnsupportedOperationError naming an operation that has no form, or that cannot be cut as the inputs
 * are; InvalidShapeError where a shape is not known; InvalidArgumentError for other options.
 */
export function toJax(graph: Graph, options: ExportOptions = {}): Record<string, string | Uint8Array> {
  const model = exportedModel(graph, options, jaxDialect);
  const { name = 'exported' } = options;
  return {
    ...packageFiles(model, options, { 'model.py': modelFile(name, model), ...runtimeFiles }),
    'README.md': readme(name, options.loss !== undefined),
  };
}

/** The text of model.py. */
function modelFile(name: string, model: ExportedModel): string {
  const takes = ['place', 'parameters', ...(model.takes.length > 0 ? ['*', ...model.takes] : [])];
  const hasConstants = model.constants.size > 0;
  const text = [...model.lines, ...model.results, ...model.definitions].join('\n');
  const loader = hasConstants ? ['from .safetensors import load_constants'] : [];
  return [
    `"""${name}: a graph of Tilewise as a function of JAX. Tensor n of the graph is called tn."""`,
    '',
    ...model.modules.flatMap(line => [line, '']),
    ...(/\bjax\./.test(text) ? ['import jax'] : []),
    'import jax.numpy as jnp',
    '',
    ...[...model.imports, ...loader].sort(),
    '',
    ...model.tables,
    ...(hasConstants ? ['constants = load_constants(__file__)'] : []),
    '',
    '',
    ...model.definitions,
    `def forward(${takes.join(', ')}):`,
    ...[...model.lines, 'return {', ...model.results, '}'].map(line => `    ${line}`),
    '',
  ].join('\n');
}
