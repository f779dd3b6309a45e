import type { Graph } from '../../graph.ts';
import { checkNames } from '../../ir/check-names.ts';
import { type ExportedModel, exportedModel } from '../python/exported-model.ts';
import { type ExportOptions, exportOptionNames, mappedOptions } from '../python/options.ts';
import { packageFiles } from '../python/package-files.ts';
import { jaxDialect } from './dialect.ts';
import { readme } from './readme.ts';
import { runtimeFiles } from './runtime-files.ts';

/**
 * Exports a graph as a Python package that needs only JAX. The package has a function that computes the graph
 * and that JAX can differentiate. It runs on one device or, with `shard_map`, on a mesh of batch × sequence,
 * with ring attention and with dropout masks that do not depend on the sharding. All ranks have equal parts,
 * so the mesh must divide the extents.
 * @param graph a forward graph, whose gradients JAX computes. A graph from `gradients` can be exported only
 * for one device.
 * @returns the files by their paths inside a folder.
 * @throws UnsupportedOperationError naming an operation that cannot be exported, or that cannot be sharded
 * like the inputs; InvalidShapeError if a shape is not known; InvalidArgumentError for invalid options.
 */
export function toJax(
  graph: Graph,
  options: ExportOptions = {},
): Record<string, string | Uint8Array<ArrayBuffer>> {
  checkNames('options', options, exportOptionNames);
  const mapped = mappedOptions(options);
  const model = exportedModel(graph, mapped, jaxDialect);
  const { name = 'exported' } = options;
  return {
    ...packageFiles(model, mapped, { 'model.py': modelFile(name, model), ...runtimeFiles }),
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
    `"""${name}: a Tilewise graph as a JAX function. Tensor n of the graph is called tn."""`,
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
