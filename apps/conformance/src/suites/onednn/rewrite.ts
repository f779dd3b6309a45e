import type { OneDnnAttribute, OneDnnGraph, OneDnnOp, OneDnnTensor } from '@tilewise/graph';
import type { GraphCase } from './case-file.ts';
import { readExtents, readStrides } from './shape-option.ts';

const unknown = [-(2 ** 63)];

/**
 * The graph that a case asks for: benchdnn's options applied, and every shape that follows from others left to be inferred.
 */
export function rewrite(graph: OneDnnGraph, graphCase: GraphCase): OneDnnGraph {
  let ops: readonly OneDnnOp[] = graph.graph.map(op => ({ ...op, attrs: powerOfTwoScales(op) }));
  for (const [id, kind] of entries(graphCase['op-kind'])) {
    ops =
      kind === 'undef'
        ? without(ops, Number(id))
        : ops.map(op => (op.id === Number(id) ? { ...op, kind } : op));
  }
  for (const [id, ...settings] of entries(graphCase['op-attrs'])) {
    ops = ops.map(op =>
      op.id === Number(id) ? { ...op, attrs: withAttributes(op, settings.join(':')) } : op,
    );
  }
  const produced = new Set(ops.flatMap(op => op.outputs.map(t => t.id)));
  const shapes = new Map(entries(graphCase['in-shapes']).map(([id, value]) => [Number(id), value] as const));
  const properties = new Map(
    entries(graphCase['tensor-property']).map(([id, value]) => [Number(id), value] as const),
  );
  const resolved = new Map((graphCase.inputs ?? []).map(t => [t.id, t] as const));
  const dtypes = dtypeOption(graphCase.dt);

  const change = (t: OneDnnTensor): OneDnnTensor => {
    const dtype = dtypes(t);
    const property_type = properties.get(t.id) ?? t.property_type;
    const known = resolved.get(t.id);
    const option = shapes.get(t.id);
    if (known) return { ...t, dtype, property_type, shape: known.shape, stride: known.stride ?? unknown };
    if (option !== undefined) return { ...t, dtype, property_type, ...placed(t, option) };
    if (!produced.has(t.id)) return { ...t, dtype, property_type };
    return { ...t, dtype, property_type, shape: unknown, stride: unknown };
  };
  const changed = ops.map(op => ({ ...op, inputs: op.inputs.map(change), outputs: op.outputs.map(change) }));
  return { ...graph, graph: changed.map(op => ({ ...op, attrs: scalePerChannel(op) })) };
}

/** Scales and zero points repeated, or cut off, to the number of channels that the tensor has now. */
function scalePerChannel({ attrs = {}, inputs: [source] }: OneDnnOp): Record<string, OneDnnAttribute> {
  if (attrs.qtype?.value !== 'per_channel' || !attrs.scales || typeof attrs.axis?.value !== 'number')
    return { ...attrs };
  const channels = source.shape[attrs.axis.value] ?? 0;
  const fitted = Object.entries(attrs).map(([name, { type, value }]) => {
    const isList = (name === 'scales' || name === 'zps') && Array.isArray(value) && channels > 0;
    return [
      name,
      { type, value: isList ? Array.from({ length: channels }, (_, n) => value[n % value.length]) : value },
    ];
  });
  return Object.fromEntries(fitted);
}

/** `A:x+B:y:z` as [[A, x], [B, y, z]]. */
function entries(option: string | undefined): string[][] {
  return option ? option.split('+').map(entry => entry.split(':')) : [];
}

function placed(t: OneDnnTensor, option: string): Pick<OneDnnTensor, 'shape' | 'stride'> {
  const [extents, strides] = option.split('*');
  const shape = extents === '' ? t.shape : readExtents(extents);
  return { shape, stride: strides === undefined ? readStrides('', shape) : readStrides(strides, shape) };
}

/** Of a whole graph, floats; of single tensors, as said. */
function dtypeOption(option: string | undefined): (t: OneDnnTensor) => string {
  if (!option) return t => t.dtype;
  if (!option.includes(':')) return t => (['f32', 'bf16', 'f16'].includes(t.dtype) ? option : t.dtype);
  const byId = new Map(entries(option).map(([id, dtype]) => [Number(id), dtype] as const));
  return t => byId.get(t.id) ?? t.dtype;
}

/** The operations but one, whose result is its produced operand. */
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

function withAttributes({ attrs = {} }: OneDnnOp, settings: string): Record<string, OneDnnAttribute> {
  const changed: Record<string, OneDnnAttribute> = { ...attrs };
  for (const setting of settings.split('*')) {
    const [name, text] = setting.split(':');
    const type = changed[name]?.type ?? attributeTypes[name] ?? 's64';
    changed[name] = { type, value: readValue(type, text) };
  }
  return changed;
}

const attributeTypes: Readonly<Record<string, OneDnnAttribute['type']>> = {
  accumulation_mode: 'string',
  qtype: 'string',
  mode: 'string',
  axes: 's64[]',
  group_shape: 's64[]',
  keep_dims: 'bool',
  transpose_a: 'bool',
  transpose_b: 'bool',
};

function readValue(type: OneDnnAttribute['type'], text: string): OneDnnAttribute['value'] {
  if (type === 'string') return text;
  return type.endsWith('[]') ? text.split('x').map(Number) : Number(text);
}

/** benchdnn rounds scales up to powers of two, so that quantization is exact. */
function powerOfTwoScales({ attrs = {} }: OneDnnOp): Record<string, OneDnnAttribute> {
  const { scales } = attrs;
  if (!scales || !Array.isArray(scales.value)) return { ...attrs };
  return { ...attrs, scales: { ...scales, value: scales.value.map(s => 2 ** Math.ceil(Math.log2(s))) } };
}
