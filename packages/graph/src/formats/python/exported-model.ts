import {
  describeValue,
  elementCount,
  InvalidArgumentError,
  InvalidShapeError,
  type Tensor,
} from '@tilewise/core';
import { resolveShapes } from '../../compile/compile.ts';
import type { Graph } from '../../graph.ts';
import { checkGraph } from '../../ir/check-graph.ts';
import { type GraphDType, storageDType } from '../../ir/tensor/dtype.ts';
import { isKnown, type LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../ir/topology.ts';
import { withKnown } from '../../runtime/partitions/boundary-tensors.ts';
import { mapById } from '../given-map.ts';
import { givenTensors } from './given-tensors.ts';
import { ModelWriter } from './model-writer.ts';
import { inputNames, isPackageName, quoted } from './names.ts';
import type { MappedOptions } from './options.ts';
import { ROLES } from './tensors/axes.ts';
import type { Dialect } from './tensors/dialect.ts';
import { axesTuple, type PyTensor, tuple } from './tensors/tensor.ts';

/** A graph in Python, without the surrounding text of the file. */
export interface ExportedModel {
  /** The lines of `model.py` that list the global extents, inputs, results, parameters and constants. */
  readonly tables: readonly string[];
  /** The functions and descriptions of attention, which come before the model. */
  readonly definitions: readonly string[];
  /** The lines of the function, and its results by name, as lines of a dict. */
  readonly lines: readonly string[];
  readonly results: readonly string[];
  /** The names of the inputs, which become arguments. */
  readonly takes: readonly string[];
  /** Imports from files of the export, and of Python modules. */
  readonly imports: readonly string[];
  readonly modules: readonly string[];
  /** Tensors that are written to a file. */
  readonly constants: ReadonlyMap<string, Tensor>;
  /** The name of an input, a parameter or a constant. */
  nameOf(id: number): string;
}

/** The names that a model can import, by the file of the export. */
const importable: Readonly<Record<string, readonly string[]>> = {
  attention: ['Attention', 'attention', 'attention_gradients'],
  operations: `absolute greatest layer_norm least product rms_norm rotary saturated scatter_rows softmax take
    tensor_scatter`.split(/\s+/),
  philox: ['Dropout'],
};

/**
 * Writes a graph as Python for a library.
 * @throws UnsupportedOperationError naming an operation that cannot be exported, or that cannot be sharded
 * like the inputs; InvalidShapeError if a shape is not known; InvalidArgumentError for invalid options.
 */
export function exportedModel(graph: Graph, options: MappedOptions, dialect: Dialect): ExportedModel {
  checkGraph('graph', graph);
  checkName(options.name);
  const { topology } = graph.finalize();
  const shaped = shapedTensors(topology, options);
  checkIds(options, shaped);
  const { parameters = {}, constants, extents = {}, loss } = options;
  const describe = (id: number): LogicalTensor => shaped.get(id) as LogicalTensor;
  const names = inputNames();
  const { given, files } = givenTensors(
    topology.inputs.map(({ id }) => describe(id)),
    options,
    dialect,
    names,
  );
  const roles = ROLES.filter(role => (extents[role] ?? 1) > 1);
  const writer = new ModelWriter(topology, shaped, given, dialect, roles);
  writer.write();

  if (loss !== undefined && (!shaped.has(loss) || !writer.has(loss))) {
    throw new InvalidArgumentError('options.loss', `must be a result of an operation, got tensor ${loss}`);
  }
  const lossShape = loss === undefined ? [] : (describe(loss).shape ?? []);
  if (elementCount(lossShape) !== 1)
    throw new InvalidShapeError('options.loss', `must be one number, got a tensor of shape [${lossShape}]`);
  const others = topology.outputs.filter(({ id }) => id !== loss);
  const results = [
    ...(loss === undefined ? [] : [['loss', writer.result(loss)] as const]),
    ...others.map(tensor => [names(tensor), writer.result(tensor.id)] as const),
  ];
  const returned = results.map(([key, tensor]) => returnedLine(key, tensor));
  const body = writer.body(returned);
  const isParameter = new Set(Object.values(parameters));
  const takes = topology.inputs
    .filter(({ id }) => !isParameter.has(id) && !constants.has(id))
    .map(({ id }): [PyTensor, GraphDType] => [given.get(id) as PyTensor, describe(id).dtype]);
  const allConstants = new Map([...files, ...writer.constants]);
  const shapes = Object.entries(parameters).map(([own, id]) => [own, describe(id)] as const);
  const text = [...body, ...returned].join('\n');
  const reads = (word: string): boolean => new RegExp(`(?<![\\w."])${word}(?![\\w"])`).test(text);
  return {
    tables: tablesOf({ options, dialect, takes, results, shapes, constants: [...allConstants.keys()] }),
    definitions: writer.definitions,
    lines: [
      ...(reads('b') ? ['b = place.batch'] : []),
      ...(reads('s') ? ['s = place.sequence'] : []),
      ...body,
    ],
    results: returned,
    takes: takes.map(([{ code }]) => code),
    ...importsOf(`${text}\n${writer.definitions.join('\n')}`),
    constants: allConstants,
    nameOf: id => given.get(id)?.code ?? `t${id}`,
  };
}

/** @throws InvalidArgumentError for a name that a Python package cannot have. */
function checkName(name = 'exported'): void {
  if (isPackageName(name)) return;
  throw new InvalidArgumentError(
    'options.name',
    `must be letters, digits and underscores, and neither a keyword of Python nor a package that the program imports, got '${name}'`,
  );
}

/** All tensors of a graph with their shapes, by id. */
function shapedTensors(topology: Topology, options: MappedOptions): ReadonlyMap<number, LogicalTensor> {
  const inputs = withKnown('options.inputs', topology.inputs, options.inputs);
  const shaped = resolveShapes({ nodes: topology.order, inputs, outputs: topology.outputs });
  for (const { id } of inputs) {
    if (!isKnown(shaped.get(id)?.shape ?? null))
      throw new InvalidShapeError(`tensor ${id}`, 'must have a known shape');
  }
  return shaped;
}

/** The line of the returned dict for a result. */
function returnedLine(key: string, { code, axes, isShare }: PyTensor): string {
  const scalar = key === 'loss' && axes.length > 0 ? `${code}.reshape(())` : code;
  // Every rank computes the whole loss, so each returns its share of it.
  return `    "${key}": ${key === 'loss' && !isShare ? `${scalar} / place.ranks` : scalar},`;
}

/** The imports that the text of a model needs, from files of the export and of Python modules. */
function importsOf(text: string): Pick<ExportedModel, 'imports' | 'modules'> {
  const uses = (word: string): boolean => new RegExp(`(?<![\\w.])${word}(?![\\w])`).test(text);
  return {
    imports: Object.entries(importable).flatMap(([file, all]) => {
      const used = all.filter(uses);
      return used.length > 0 ? [`from .${file} import ${used.join(', ')}`] : [];
    }),
    modules: [
      ...(uses('math') ? ['import math'] : []),
      ...(uses('replace') ? ['from dataclasses import replace'] : []),
    ],
  };
}

interface Tables {
  readonly options: MappedOptions;
  readonly dialect: Dialect;
  readonly takes: readonly (readonly [PyTensor, GraphDType])[];
  readonly results: readonly (readonly [string, PyTensor])[];
  readonly shapes: readonly (readonly [string, LogicalTensor])[];
  readonly constants: readonly string[];
}

/** The tables of a model in Python: its inputs, results, shapes and constants. */
function tablesOf({ options, dialect, takes, results, shapes, constants }: Tables): string[] {
  const extents = Object.entries(options.extents ?? {}).map(([role, n]) => `"${role}": ${n}`);
  return [
    '# The global extents, over all ranks.',
    `EXTENTS = {${extents.join(', ')}}`,
    '# The dtype and the axes of each input. An axis is a tuple of factors.',
    'INPUTS = {',
    ...takes.map(([{ code, axes }, dtype]) => `    "${code}": ("${dtype}", ${axesTuple(axes)}),`),
    '}',
    '# The axes of each result. True means that each rank has a share, and the result is the sum of the shares.',
    'OUTPUTS = {',
    ...results.map(([key, { axes, isShare }]) => {
      return `    "${key}": (${key === 'loss' ? '()' : axesTuple(axes)}, ${isShare || key === 'loss' ? 'True' : 'False'}),`;
    }),
    '}',
    ...(shapes.length === 0 ? ['PARAMETERS = {}'] : ['PARAMETERS = {']),
    ...shapes.map(([own, { shape, dtype }]) => {
      return `    ${quoted(own)}: (${tuple((shape ?? []).map(String))}, ${dialect.dtype(storageDType(dtype))}),`;
    }),
    ...(shapes.length === 0 ? [] : ['}']),
    `CONSTANTS = [${constants.map(own => `"${own}"`).join(', ')}]`,
  ];
}

function checkIds(options: MappedOptions, tensors: ReadonlyMap<number, LogicalTensor>): void {
  const lists = {
    parameters: Object.values(options.parameters ?? {}),
    constants: [...options.constants.keys()],
    shard: [...mapById('options.shard', options.shard).keys()],
    batches: [...(options.batches?.keys() ?? [])],
  };
  for (const [list, ids] of Object.entries<readonly unknown[]>(lists)) {
    const unknown = ids.find(id => !tensors.has(id as number));
    if (unknown === undefined) continue;
    const rule =
      typeof unknown === 'object'
        ? `has ${describeValue(unknown)} in place of an id, such as inputs.w.id`
        : `has tensor ${unknown}, which the graph does not have`;
    throw new InvalidArgumentError(`options.${list}`, rule);
  }
}
