import { elementCount, InvalidArgumentError, InvalidShapeError, Tensor } from '@tilewise/core';
import { joinU64 } from '@tilewise/philox';
import { resolveShapes } from '../../compile/compile.ts';
import type { Graph } from '../../graph.ts';
import { checkGraph } from '../../ir/check-graph.ts';
import { exprType } from '../../ir/program/expr.ts';
import { type GraphDType, storageDType } from '../../ir/tensor/dtype.ts';
import { isKnown, type LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { withKnown } from '../../runtime/partitions/boundary-tensors.ts';
import { ModelWriter } from './model-writer.ts';
import { inputNames, isPackageName, quoted } from './names.ts';
import type { MappedOptions } from './options.ts';
import { type Axis, extentOf, type Factor, joinFactors, ROLES, unshardedAxes } from './tensors/axes.ts';
import type { Dialect } from './tensors/dialect.ts';
import { literal } from './tensors/expression.ts';
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
  const { name = 'exported', parameters = {}, constants, loss } = options;
  if (!isPackageName(name)) {
    throw new InvalidArgumentError(
      'options.name',
      `must be letters, digits and underscores, and neither a keyword of Python nor a package that the program imports, got '${name}'`,
    );
  }
  const { topology } = graph.finalize();
  const known = withKnown('options.inputs', topology.inputs, options.inputs);
  const shaped = resolveShapes({ nodes: topology.order, inputs: known, outputs: topology.outputs });
  const describe = (id: number): LogicalTensor => shaped.get(id) as LogicalTensor;
  for (const { id } of topology.inputs) {
    if (!isKnown(describe(id).shape)) throw new InvalidShapeError(`tensor ${id}`, 'must have a known shape');
  }
  checkIds(options, shaped);
  const names = inputNames();
  const parameterNames = new Map(Object.entries(parameters).map(([own, id]) => [id, own]));
  const files = new Map<string, Tensor>();
  const givenOf = (tensor: LogicalTensor): PyTensor => {
    const { id, shape } = tensor;
    const own = parameterNames.get(id);
    if (own !== undefined) return { code: dialect.parameter(own), axes: unshardedAxes(shape ?? []) };
    const value = constants.get(id);
    if (value === undefined) return { code: names(tensor), axes: shardedAxes(tensor, options) };
    return givenConstant(tensor, value, dialect, files);
  };
  const given = new Map(topology.inputs.map(({ id }) => [id, givenOf(describe(id))]));
  const { extents = {} } = options;
  const roles = ROLES.filter(role => (extents[role] ?? 1) > 1);
  const writer = new ModelWriter(topology, shaped, given, dialect, roles);
  writer.write();

  if (loss !== undefined && (!shaped.has(loss) || !writer.has(loss))) {
    throw new InvalidArgumentError('options.loss', `must be a result of an operation, got tensor ${loss}`);
  }
  const others = topology.outputs.filter(({ id }) => id !== loss);
  const results = [
    ...(loss === undefined ? [] : [['loss', writer.result(loss)] as const]),
    ...others.map(tensor => [names(tensor), writer.result(tensor.id)] as const),
  ];
  const returned = results.map(([key, { code, axes, isShare }]) => {
    const scalar = key === 'loss' && axes.length > 0 ? `${code}.reshape(())` : code;
    // Every rank computes the whole loss, so each returns its share of it.
    return `    "${key}": ${key === 'loss' && !isShare ? `${scalar} / place.ranks` : scalar},`;
  });
  const body = writer.body(returned);
  const text = [...body, ...returned].join('\n');
  const uses = (word: string): boolean =>
    new RegExp(`(?<![\\w.])${word}(?![\\w])`).test(`${text}\n${writer.definitions.join('\n')}`);
  const reads = (word: string): boolean => new RegExp(`(?<![\\w."])${word}(?![\\w"])`).test(text);
  const inputs = topology.inputs.filter(({ id }) => !parameterNames.has(id) && !constants.has(id));
  const takes = inputs.map(({ id }): [PyTensor, GraphDType] => [
    given.get(id) as PyTensor,
    describe(id).dtype,
  ]);
  const allConstants = new Map([...files, ...writer.constants]);
  const shapes = Object.entries(parameters).map(([own, id]) => [own, describe(id)] as const);
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
    imports: Object.entries(importable).flatMap(([file, all]) => {
      const used = all.filter(uses);
      return used.length > 0 ? [`from .${file} import ${used.join(', ')}`] : [];
    }),
    modules: [
      ...(uses('math') ? ['import math'] : []),
      ...(uses('replace') ? ['from dataclasses import replace'] : []),
    ],
    constants: allConstants,
    nameOf: id => given.get(id)?.code ?? `t${id}`,
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
    shard: Object.keys(options.shard ?? {}).map(Number),
    batches: [...(options.batches?.keys() ?? [])],
  };
  for (const [list, ids] of Object.entries(lists)) {
    const unknown = ids.find(id => !tensors.has(id));
    if (unknown === undefined) continue;
    throw new InvalidArgumentError(`options.${list}`, `has tensor ${unknown}, which the graph does not have`);
  }
}

/** A constant: a number in the text, or a tensor from a file. */
function givenConstant(
  { id, dtype, shape }: LogicalTensor,
  value: Tensor | number | bigint,
  dialect: Dialect,
  files: Map<string, Tensor>,
): PyTensor {
  const own = shape ?? [];
  if (dtype === 'i64' && elementCount(own) === 1) return { code: `${wordOf(value)}`, axes: [] };
  const numbers =
    value instanceof Tensor ? value : Tensor.from([Number(value)], own, { dtype: storageDType(dtype) });
  const axes = unshardedAxes(own);
  if (numbers.size === 1) {
    const [first = 0] = numbers.toFloat64();
    return {
      code: dialect.full(tuple(own.map(String)), literal(first, exprType(numbers.dtype)).code),
      axes,
      value: first,
    };
  }
  files.set(`t${id}`, numbers);
  return { code: dialect.constant(`t${id}`), axes };
}

/** The value of an i64 scalar, which a tensor stores as two u32, the low word first. */
function wordOf(value: Tensor | number | bigint): bigint {
  if (!(value instanceof Tensor)) return BigInt(value);
  const [low = 0, high = 0] = value.toFloat64();
  return joinU64([low, high]);
}

/** The axes of an input, sharded as the options say. */
function shardedAxes({ id, shape }: LogicalTensor, { shard = {}, extents = {} }: MappedOptions): Axis[] {
  const cut = shard[id];
  if (!cut) return unshardedAxes(shape ?? []);
  if (cut.length !== shape?.length) {
    throw new InvalidArgumentError(
      'options.shard',
      `must list the ${shape?.length} axes of tensor ${id}, got ${cut.length}`,
    );
  }
  return cut.map((factors, d) => {
    const axis = factors.map((factor): Factor => {
      if (typeof factor === 'number') return { role: null, extent: factor };
      const extent = extents[factor];
      if (extent === undefined) {
        throw new InvalidArgumentError(
          'options.extents',
          `must list the extent of '${factor}', by which tensor ${id} is sharded`,
        );
      }
      return { role: extent === 1 ? null : factor, extent };
    });
    const product = extentOf(axis);
    if (factors.length > 0 && product !== shape[d]) {
      throw new InvalidArgumentError(
        'options.shard',
        `makes axis ${d} of tensor ${id} ${product}, but it has ${shape[d]}`,
      );
    }
    return factors.length === 0 ? unshardedAxes([shape[d]])[0] : joinFactors(axis);
  });
}
