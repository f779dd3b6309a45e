import { describeValue, InvalidArgumentError } from '@tilewise/core';
import type { Graph } from '../../graph.ts';
import { checkNames } from '../../ir/check-names.ts';
import { type ExportedModel, exportedModel } from '../python/exported-model.ts';
import { exportOptionNames, mappedOptions } from '../python/options.ts';
import { packageFiles } from '../python/package-files.ts';
import { torchDialect } from './dialect.ts';
import { type TorchOptions, trainingOptionNames } from './options.ts';
import { readme } from './readme.ts';
import { runtimeFiles } from './runtime-files.ts';

/**
 * Exports a graph as a Python package that needs only PyTorch. The package has a module that computes the
 * graph, and programs that train it in one process or on a mesh of batch × sequence, with ring attention and
 * with dropout masks that do not depend on the sharding.
 * @param graph a forward graph, whose gradients PyTorch computes. A graph from `gradients` can be exported
 * only for one process.
 * @returns the files by their paths inside a folder.
 * @throws UnsupportedOperationError naming an operation that cannot be exported, or that cannot be sharded
 * like the inputs; InvalidShapeError if a shape is not known; InvalidArgumentError for invalid options.
 */
export function toTorch(
  graph: Graph,
  options: TorchOptions = {},
): Record<string, string | Uint8Array<ArrayBuffer>> {
  checkNames('options', options, [...exportOptionNames, 'training']);
  const mapped = mappedOptions(options);
  const model = exportedModel(graph, mapped, torchDialect);
  const { name = 'exported', training } = options;
  const settings = training && trainingArgs(training);
  return {
    ...packageFiles(model, mapped, { 'model.py': modelFile(name, model), ...runtimeFiles }),
    ...(settings !== undefined && { [`${name}/training.args`]: settings }),
    'README.md': readme(name, options.loss !== undefined),
  };
}

/** The file from which train.py reads its defaults: the names and the values of options, one per line. */
function trainingArgs(training: NonNullable<TorchOptions['training']>): string {
  checkNames('options.training', training, trainingOptionNames);
  const given = Object.entries(training).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    if (Number.isFinite(value) || (typeof value === 'string' && !/[\r\n]/.test(value))) continue;
    const rule = `must be a finite number or a text of one line, got ${describeValue(value)}`;
    throw new InvalidArgumentError(`options.training.${name}`, rule);
  }
  return given.map(([name, value]) => `--${name}\n${value}\n`).join('');
}

/** The text of model.py. */
function modelFile(name: string, model: ExportedModel): string {
  const signature = ['self', 'place', ...(model.takes.length > 0 ? ['*', ...model.takes] : [])].join(', ');
  return [
    `"""${name}: a Tilewise graph as a PyTorch module. Tensor n of the graph is called tn."""`,
    '',
    ...model.modules.flatMap(line => [line, '']),
    'import torch',
    '',
    ...[...model.imports, 'from .module import GraphModule'].sort(),
    '',
    ...model.tables,
    '',
    '',
    ...model.definitions,
    'class Model(GraphModule):',
    '    def __init__(self):',
    '        super().__init__(PARAMETERS, CONSTANTS, __file__)',
    '',
    `    def forward(${signature}):`,
    ...[...model.lines, 'return {', ...model.results, '}'].map(line => `        ${line}`),
    '',
  ].join('\n');
}
