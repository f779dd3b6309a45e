import { checkObject, InvalidArgumentError, InvalidShapeError, Tensor } from '@tilewise/core';
import { resolveShapes } from '../../compile/compile.ts';
import type { Graph } from '../../graph.ts';
import { checkGraph } from '../../ir/check-graph.ts';
import { type GraphDType, storageDType } from '../../ir/tensor/dtype.ts';
import { isKnown, type LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { withKnown } from '../../runtime/partition.ts';
import { type Axis, type Factor, factorList, joined, wholeAxes } from './axes.ts';
import { ModelWriter } from './model-writer.ts';
import type { TorchOptions } from './options.ts';
import { type PyTensor, torchDType, tuple } from './program-writer.ts';
import { literal } from './python-expr.ts';
import { readme } from './readme.ts';
import { runtimeFiles } from './runtime-files.ts';
import { safetensorsFile } from './safetensors.ts';

/** Names that inputs cannot have in Python: keywords, and what a model uses itself. */
const reserved: ReadonlySet<string> = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if import in is
  lambda nonlocal not or pass raise return try while with yield self place math torch b s attention saturated take product softmax least
  greatest scatter_rows tensor_scatter replace q k v`.split(/\s+/),
);

/** What a graph's tensor is called in Python. */
class Names {
  readonly #taken = new Set<string>(reserved);

  of({ id, name }: LogicalTensor): string {
    const plain = (name ?? '')
      .toLowerCase()
      .replace(/\W+/g, '_')
      .replace(/^_+|_+$/g, '');
    const start = /^[a-z]/.test(plain) && !/^[tx]\d+$/.test(plain) ? plain : `t${id}`;
    const found = this.#taken.has(start) ? `${start}_${id}` : start;
    this.#taken.add(found);
    return found;
  }
}

/**
 * A graph as a Python package that needs PyTorch alone: a module that computes what the graph computes, and
 * programs that train it on one process or on a mesh of batch × sequence, with ring attention and with
 * dropout masks that no sharding changes.
 * @param graph a forward graph; PyTorch makes its gradients. One that `gradients` made is exported for one
 * process.
 * @returns files by their paths inside a folder.
 * @throws UnsupportedOperationError naming an operation that has no form, or that cannot be cut as the inputs
 * are; InvalidShapeError where a shape is not known; InvalidArgumentError for other options.
 */
export function toTorch(graph: Graph, options: TorchOptions = {}): Record<string, string | Uint8Array> {
  checkGraph('graph', graph);
  checkObject('options', options);
  const { name = 'exported', parameters = {}, constants = new Map(), loss } = options;
  if (!/^[a-z]\w*$/i.test(name)) {
    throw new InvalidArgumentError(
      'options.name',
      `must be a name of letters, digits and underscores, got '${name}'`,
    );
  }
  const { topology } = graph.finalize();
  const known = withKnown('options.inputs', topology.inputs, options.inputs);
  const shaped = resolveShapes({ nodes: topology.order, inputs: known, outputs: topology.outputs });
  for (const tensor of topology.inputs) {
    if (!isKnown(shaped.get(tensor.id)?.shape ?? null)) {
      throw new InvalidShapeError(`tensor ${tensor.id}`, 'must have a known shape');
    }
  }
  checkIds(options, shaped);
  const names = new Names();
  const parameterNames = new Map(Object.entries(parameters).map(([own, id]) => [id, own]));
  const inputs = topology.inputs.filter(({ id }) => !parameterNames.has(id) && !constants.has(id));
  const given = new Map<number, PyTensor>();
  const files = new Map<string, Tensor>();
  for (const { id } of topology.inputs) {
    const tensor = shaped.get(id) as LogicalTensor;
    given.set(id, givenTensor(tensor, options, { names, parameterNames, files }));
  }
  const writer = new ModelWriter(topology, shaped, given);
  writer.write();

  const lossTensor = loss === undefined ? undefined : shaped.get(loss);
  if (loss !== undefined && (!lossTensor || !writer.has(loss))) {
    throw new InvalidArgumentError('options.loss', `must be a result of an operation, got tensor ${loss}`);
  }
  const others = topology.outputs.filter(({ id }) => id !== loss);
  const results = [
    ...(lossTensor ? [{ tensor: lossTensor, key: 'loss' }] : []),
    ...others.map(tensor => ({ tensor, key: names.of(tensor) })),
  ];
  const python = modelFile({
    writer,
    options,
    inputs: inputs.map(({ id }) => [given.get(id) as PyTensor, (shaped.get(id) as LogicalTensor).dtype]),
    parameters: Object.entries(parameters).map(([own, id]) => [own, shaped.get(id) as LogicalTensor]),
    constantNames: [...files.keys(), ...writer.constants.keys()],
    results: results.map(({ tensor, key }) => [key, writer.result(tensor.id)]),
  });
  const allConstants = new Map([...files, ...writer.constants]);
  return {
    [`${name}/__init__.py`]: '',
    [`${name}/model.py`]: python,
    ...Object.fromEntries(Object.entries(runtimeFiles).map(([file, text]) => [`${name}/${file}`, text])),
    ...(allConstants.size > 0 && { [`${name}/constants.safetensors`]: safetensorsFile(allConstants) }),
    ...(options.weights && {
      [`${name}/weights.safetensors`]: safetensorsFile(options.weights, options.metadata),
    }),
    ...(options.batches && {
      [`${name}/batches.safetensors`]: safetensorsFile(
        new Map([...options.batches].map(([id, steps]) => [given.get(id)?.code ?? `t${id}`, steps])),
        options.metadata,
      ),
    }),
    ...(options.training && { [`${name}/training.args`]: trainingArguments(options.training) }),
    'README.md': readme(name, loss !== undefined),
  };
}

function checkIds(options: TorchOptions, tensors: ReadonlyMap<number, LogicalTensor>): void {
  const lists = {
    parameters: Object.values(options.parameters ?? {}),
    constants: [...(options.constants?.keys() ?? [])],
    shard: Object.keys(options.shard ?? {}).map(Number),
    batches: [...(options.batches?.keys() ?? [])],
  };
  for (const [list, ids] of Object.entries(lists)) {
    const strange = ids.find(id => !tensors.has(id));
    if (strange !== undefined && list !== 'constants') {
      throw new InvalidArgumentError(
        `options.${list}`,
        `has tensor ${strange}, which the graph does not have`,
      );
    }
  }
}

/** An input of the graph in Python: a parameter, a constant or an argument. */
function givenTensor(
  tensor: LogicalTensor,
  { constants, shard = {}, extents = {} }: TorchOptions,
  {
    names,
    parameterNames,
    files,
  }: {
    readonly names: Names;
    readonly parameterNames: ReadonlyMap<number, string>;
    readonly files: Map<string, Tensor>;
  },
): PyTensor {
  const { id, dtype } = tensor;
  const shape = tensor.shape ?? [];
  const own = parameterNames.get(id);
  if (own !== undefined) return { code: `self.get_parameter("${own}")`, axes: wholeAxes(shape) };
  const value = constants?.get(id);
  if (value === undefined) return { code: names.of(tensor), axes: cutAxes(tensor, shard[id], extents) };
  if (dtype === 'i64' && !(value instanceof Tensor)) return { code: `${BigInt(value)}`, axes: [] };
  const numbers =
    value instanceof Tensor ? value : Tensor.from([Number(value)], shape, { dtype: storageDType(dtype) });
  const values = numbers.toFloat64();
  const [first = 0] = values;
  const axes = wholeAxes(shape);
  if (values.length === 1) {
    const code = `torch.full((${shape.map(n => `${n}, `).join('')}), ${literal(first).code}, device=place.device)`;
    return { code, axes, value: first };
  }
  files.set(`t${id}`, numbers);
  return { code: `self.t${id}`, axes };
}

/** The axes of an input as the options cut them. */
function cutAxes(
  { id, shape }: LogicalTensor,
  cut: NonNullable<TorchOptions['shard']>[number] | undefined,
  extents: NonNullable<TorchOptions['extents']>,
): Axis[] {
  if (!cut) return wholeAxes(shape ?? []);
  if (cut.length !== shape?.length) {
    throw new InvalidArgumentError(
      'options.shard',
      `must say the ${shape?.length} axes of tensor ${id}, got ${cut.length}`,
    );
  }
  return cut.map((factors, d) => {
    const axis = factors.map((factor): Factor => {
      if (typeof factor === 'number') return { role: null, extent: factor };
      const extent = extents[factor];
      if (extent === undefined) {
        throw new InvalidArgumentError(
          'options.extents',
          `must say the extent of '${factor}', which tensor ${id} is cut by`,
        );
      }
      return { role: extent === 1 ? null : factor, extent };
    });
    const product = axis.reduce((n, { extent }) => n * extent, 1);
    if (factors.length > 0 && product !== shape[d]) {
      throw new InvalidArgumentError(
        'options.shard',
        `makes axis ${d} of tensor ${id} ${product}, but it has ${shape[d]}`,
      );
    }
    return factors.length === 0 ? wholeAxes([shape[d]])[0] : joined(axis);
  });
}

interface ModelParts {
  readonly writer: ModelWriter;
  readonly options: TorchOptions;
  readonly inputs: readonly (readonly [PyTensor, GraphDType])[];
  readonly parameters: readonly (readonly [string, LogicalTensor])[];
  readonly constantNames: readonly string[];
  readonly results: readonly (readonly [string, PyTensor])[];
}

const importable: Readonly<Record<string, readonly string[]>> = {
  attention: ['Attention', 'attention', 'attention_gradients'],
  operations: [
    'greatest',
    'least',
    'product',
    'saturated',
    'scatter_rows',
    'softmax',
    'take',
    'tensor_scatter',
  ],
  philox: ['Dropout'],
};

/** The text of model.py. */
function modelFile({ writer, options, inputs, parameters, constantNames, results }: ModelParts): string {
  const { name = 'exported', extents = {} } = options;
  const axesOf = (axes: readonly Axis[]): string => tuple(axes.map(axis => `(${factorList(axis)},)`));
  const returned = results.map(([key, { code, axes, isShare }]) => {
    const scalar = key === 'loss' && axes.length > 0 ? `${code}.reshape(())` : code;
    // Every rank has a whole loss: each gives its share of one.
    return `            "${key}": ${key === 'loss' && !isShare ? `${scalar} / place.ranks` : scalar},`;
  });
  const lines = writer.body(returned);
  const body = [...lines, ...returned].join('\n');
  const uses = (word: string): boolean =>
    new RegExp(`(?<![\\w.])${word}(?![\\w])`).test(`${body}\n${writer.definitions.join('\n')}`);
  const reads = (word: string): boolean => new RegExp(`(?<![\\w."])${word}(?![\\w"])`).test(body);
  const imports = Object.entries(importable).flatMap(([file, all]) => {
    const used = all.filter(uses);
    return used.length > 0 ? [`from .${file} import ${used.join(', ')}`] : [];
  });
  const takes = inputs.map(([{ code }]) => code);
  const signature = ['self', 'place', ...(takes.length > 0 ? ['*', ...takes] : [])].join(', ');
  const locals = [reads('b') ? 'b = place.batch' : '', reads('s') ? 's = place.sequence' : ''].filter(
    text => text !== '',
  );
  const text = [
    `"""${name}: a graph of Tilewise as a module of PyTorch. Tensor n of the graph is called tn."""`,
    '',
    ...(uses('math') ? ['import math', ''] : []),
    ...(uses('replace') ? ['from dataclasses import replace', ''] : []),
    'import torch',
    '',
    ...imports,
    'from .module import GraphModule',
    '',
    '# The whole batch and the whole sequence.',
    `EXTENTS = {${Object.entries(extents)
      .map(([role, n]) => `"${role}": ${n}`)
      .join(', ')}}`,
    '# Of each input its dtype and its axes, as factors.',
    'INPUTS = {',
    ...inputs.map(([{ code, axes }, dtype]) => `    "${code}": ("${dtype}", ${axesOf(axes)}),`),
    '}',
    '# Of each result its axes, and whether each rank has a share of which the sum is meant.',
    'OUTPUTS = {',
    ...results.map(([key, { axes, isShare }]) => {
      return `    "${key}": (${key === 'loss' ? '()' : axesOf(axes)}, ${isShare || key === 'loss' ? 'True' : 'False'}),`;
    }),
    '}',
    ...(parameters.length === 0 ? ['PARAMETERS = {}'] : ['PARAMETERS = {']),
    ...parameters.map(([own, { shape, dtype }]) => {
      return `    "${own}": (${tuple((shape ?? []).map(String))}, ${torchDType(storageDType(dtype))}),`;
    }),
    ...(parameters.length === 0 ? [] : ['}']),
    `CONSTANTS = [${constantNames.map(own => `"${own}"`).join(', ')}]`,
    '',
    '',
    ...writer.definitions,
    'class Model(GraphModule):',
    '    def __init__(self):',
    '        super().__init__(PARAMETERS, CONSTANTS, __file__)',
    '',
    `    def forward(${signature}):`,
    ...[...locals, ...lines].map(line => `        ${line}`),
    '        return {',
    ...returned,
    '        }',
    '',
  ];
  return text.join('\n');
}

function trainingArguments(training: NonNullable<TorchOptions['training']>): string {
  return `${Object.entries(training)
    .map(([key, value]) => `--${key}\n${value}`)
    .join('\n')}\n`;
}
