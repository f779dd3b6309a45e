import {
  Graph,
  inferShapes,
  isKnown,
  type LogicalShape,
  type OneDnnAttribute,
  type OneDnnGraph,
  type OneDnnOp,
  type OneDnnTensor,
} from '@tilewise/graph';
import { withAttributes } from './attribute-option.ts';
import type { GraphCase } from './case-file.ts';
import { groupsAndScales } from './groups.ts';
import { batchInputs } from './mb.ts';
import { byId, entries } from './option-entries.ts';
import { readShapeOption, readStrides } from './shape-option.ts';

const unknown = [-(2 ** 63)];

/**
 * The graph that a case asks for: benchdnn's options are applied, and every shape that follows from others is
 * left to be inferred.
 * @throws Error, including the graph's own errors, if an option is not understood or does not fit the graph.
 */
export function rewrite(graph: OneDnnGraph, graphCase: GraphCase): OneDnnGraph {
  requireIds(graph, graphCase);
  const ops = withTypes(withOperations(graph.graph, graphCase), graphCase);
  return { ...graph, graph: placedTensors({ ...graph, graph: ops }, graphCase) };
}

/**
 * An unknown id is an error, except in `in-shapes`: benchdnn ignores it there, and one of its own cases has
 * such an id.
 */
function requireIds({ graph }: OneDnnGraph, graphCase: GraphCase): void {
  const ops = new Set(graph.map(({ id }) => id));
  const tensors = new Set(graph.flatMap(({ inputs, outputs }) => [...inputs, ...outputs].map(t => t.id)));
  const named = [
    ['op-kind', 'operation', ops],
    ['op-attrs', 'operation', ops],
    ['tensor-property', 'tensor', tensors],
    ...(graphCase.dt?.includes(':') ? [['dt', 'tensor', tensors] as const] : []),
  ] as const;
  for (const [option, what, ids] of named) {
    for (const [id] of entries(graphCase[option])) {
      if (!ids.has(Number(id))) throw new Error(`${option}: there is no ${what} '${id}' in the graph`);
    }
  }
}

/** The operations after the options have been applied. */
function withOperations(
  stored: readonly OneDnnOp[],
  { 'op-kind': kinds, 'op-attrs': attributes }: GraphCase,
): readonly OneDnnOp[] {
  let ops: readonly OneDnnOp[] = stored.map(op => ({ ...op, attrs: powerOfTwoScales(op) }));
  for (const [id, kind] of byId(kinds)) {
    ops = kind === 'undef' ? without(ops, id) : ops.map(op => (op.id === id ? { ...op, kind } : op));
  }
  for (const [id, ...settings] of entries(attributes)) {
    ops = ops.map(op =>
      op.id === Number(id) ? { ...op, attrs: withAttributes(op, settings.join(':')) } : op,
    );
  }
  return ops;
}

/** The tensors with the dtypes and properties that the options ask for. */
function withTypes(ops: readonly OneDnnOp[], graphCase: GraphCase): OneDnnOp[] {
  const properties = byId(graphCase['tensor-property']);
  for (const property of properties.values()) {
    if (!tensorProperties.includes(property))
      throw new Error(`tensor-property: must be one of ${tensorProperties.join(', ')}, got '${property}'`);
  }
  const dtypeOf = dtypeOption(graphCase.dt);
  const change = (t: OneDnnTensor): OneDnnTensor => ({
    ...t,
    dtype: dtypeOf(t),
    property_type: properties.get(t.id) ?? t.property_type,
  });
  return ops.map(op => ({ ...op, inputs: op.inputs.map(change), outputs: op.outputs.map(change) }));
}

/**
 * The tensors with the shapes and strides of the case: its resolved ones, or else those from its options. The
 * shape of an operation's result is left open unless it is given; if only its strides are given, they apply
 * to the inferred shape.
 */
function placedTensors(graph: OneDnnGraph, { inputs = [], mb, ...graphCase }: GraphCase): OneDnnOp[] {
  const resolved = new Map(inputs.map(t => [t.id, t] as const));
  const options = new Map(
    [...byId(graphCase['in-shapes'])].map(([id, text]) => [id, readShapeOption(text)] as const),
  );
  const produced = new Set(graph.graph.flatMap(op => op.outputs.map(t => t.id)));

  const place = (extents: ReadonlyMap<number, readonly number[]>): OneDnnOp[] => {
    const change = (t: OneDnnTensor): OneDnnTensor => {
      const known = resolved.get(t.id);
      if (known) return { ...t, shape: known.shape, stride: known.stride ?? unknown };
      const option = options.get(t.id);
      const shape = extents.get(t.id) ?? option?.shape ?? (produced.has(t.id) ? unknown : t.shape);
      if (shape === unknown) return { ...t, shape, stride: unknown };
      if (option) return { ...t, shape, stride: readStrides(option.strides, shape) };
      return { ...t, shape, stride: shape === t.shape ? t.stride : stridesOfBatch(t, shape) };
    };
    const changed = graph.graph.map(op => ({
      ...op,
      inputs: op.inputs.map(change),
      outputs: op.outputs.map(change),
    }));
    return groupsAndScales(changed, graphCase).map(op => ({ ...op, attrs: scalePerChannel(op) }));
  };
  const finalized = (ops: readonly OneDnnOp[]): [Graph, ReadonlyMap<number, LogicalShape>] => {
    const whole = Graph.fromJSON({ ...graph, graph: ops }).finalize();
    return [whole, inferShapes(whole.topology.order, new Map())];
  };

  const extents = new Map<number, readonly number[]>();
  if (mb !== undefined && inputs.length === 0) {
    for (const [id, shape] of batched(...finalized(place(extents)), mb)) extents.set(id, shape);
  }
  const open = [...options].filter(([id, { shape }]) => produced.has(id) && !shape).map(([id]) => id);
  if (open.length > 0) {
    const [, shapes] = finalized(place(extents));
    for (const id of open) {
      const shape = shapes.get(id) ?? null;
      if (!isKnown(shape)) throw new Error(`in-shapes: the shape of tensor ${id} is not known`);
      extents.set(id, shape);
    }
  }
  return place(extents);
}

/** The shapes that `--mb` gives to inputs of a graph; 0 leaves them unchanged. */
function batched(
  graph: Graph,
  shapes: ReadonlyMap<number, LogicalShape>,
  mb: string,
): Map<number, readonly number[]> {
  const batch = Number(mb);
  if (!(Number.isInteger(batch) && batch >= 0))
    throw new Error(`mb must be a whole number of at least 0, got '${mb}'`);
  if (batch === 0) return new Map();
  const ids = batchInputs(graph, shapes);
  if (ids.size === 0)
    throw new Error(`mb: no input of the graph has a batch dimension that could become ${mb}`);
  return new Map([...ids].map(id => [id, [batch, ...(shapes.get(id) ?? []).slice(1)]]));
}

/**
 * A larger batch keeps the strides if the batch is outermost in memory; otherwise the tensor becomes dense.
 */
function stridesOfBatch({ stride }: OneDnnTensor, shape: readonly number[]): readonly number[] {
  const reach = shape.reduce((sum, extent, d) => (d === 0 ? sum : sum + (extent - 1) * stride[d]), 1);
  return stride[0] >= reach ? stride : readStrides('', shape);
}

/** Repeats or cuts off scales and zero points to match the tensor's new number of channels. */
function scalePerChannel({ attrs = {}, inputs: [source] }: OneDnnOp): Record<string, OneDnnAttribute> {
  if (attrs.qtype?.value !== 'per_channel' || !attrs.scales) return { ...attrs };
  const channels = source.shape.at(Number(attrs.axis?.value ?? 1)) ?? 0;
  const fitted = Object.entries(attrs).map(([name, { type, value }]) => {
    const isList = (name === 'scales' || name === 'zps') && Array.isArray(value) && channels > 0;
    return [
      name,
      { type, value: isList ? Array.from({ length: channels }, (_, n) => value[n % value.length]) : value },
    ];
  });
  return Object.fromEntries(fitted);
}

/** A dtype option: for a whole graph, its floats; for single tensors, as given. */
function dtypeOption(option: string | undefined): (t: OneDnnTensor) => string {
  if (!option || option === 'undef') return t => t.dtype;
  if (!option.includes(':')) return t => (['f32', 'bf16', 'f16'].includes(t.dtype) ? option : t.dtype);
  const dtypes = byId(option);
  return t => {
    const dtype = dtypes.get(t.id);
    return dtype === undefined || dtype === 'undef' ? t.dtype : dtype;
  };
}

const tensorProperties: readonly string[] = ['undef', 'variable', 'constant', 'host_scalar'];

/** Removes one operation; its produced operand replaces its result. */
function without(ops: readonly OneDnnOp[], id: number): OneDnnOp[] {
  const gone = ops.find(op => op.id === id);
  if (!gone) return [...ops];
  const produced = new Set(ops.flatMap(op => op.outputs.map(t => t.id)));
  const passed = gone.inputs.find(t => produced.has(t.id)) ?? gone.inputs[0];
  const result = gone.outputs[0].id;
  return ops
    .filter(op => op.id !== id)
    .map(op => ({ ...op, inputs: op.inputs.map(t => (t.id === result ? passed : t)) }));
}

/** benchdnn rounds scales up to powers of two, so that quantization is exact. */
function powerOfTwoScales({ attrs = {} }: OneDnnOp): Record<string, OneDnnAttribute> {
  const { scales } = attrs;
  if (!scales || !Array.isArray(scales.value)) return { ...attrs };
  return { ...attrs, scales: { ...scales, value: scales.value.map(s => 2 ** Math.ceil(Math.log2(s))) } };
}
