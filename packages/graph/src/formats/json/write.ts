import { contiguousStrides } from '@tilewise/core';
import { checkGraph } from '../../ir/check-graph.ts';
import type { GraphNode } from '../../ir/node.ts';
import type { AttributeType, AttributeValue } from '../../ir/schema/attribute.ts';
import { oneDnnDType } from '../../ir/tensor/dtype.ts';
import { isKnown, type LogicalTensor, UNKNOWN } from '../../ir/tensor/logical-tensor.ts';
import {
  type GraphHeader,
  namedFloats,
  type OneDnnAttribute,
  type OneDnnGraph,
  type OneDnnOp,
  type OneDnnTensor,
  type Ports,
  UNKNOWN_DIMENSION,
} from './format.ts';

/** The parts of a graph that the JSON contains. */
export interface WritableGraph {
  readonly header: GraphHeader;
  readonly nodes: readonly GraphNode[];
}

/** Writes a graph in oneDNN's format. */
export function graphToJson({ header, nodes }: WritableGraph): OneDnnGraph {
  const { version, engineKind, fpmathMode, fpmathModeApplyToInt, ports } = header;
  return {
    version,
    engine_kind: engineKind,
    fpmath_mode: fpmathMode,
    ...(fpmathModeApplyToInt !== undefined && {
      fpmath_mode_apply_to_int: fpmathModeApplyToInt ? 'true' : 'false',
    }),
    ...(ports !== 'none' && writePorts(ports === 'derived' ? portsOf(nodes) : ports)),
    graph: nodes.map(writeOperation),
  };
}

function writePorts({ inputs, outputs }: Ports): Pick<OneDnnGraph, 'input_ports' | 'output_ports'> {
  return { input_ports: inputs, output_ports: outputs };
}

function portsOf(nodes: readonly GraphNode[]): Ports {
  const produced = new Set(nodes.flatMap(node => node.outputs.map(t => t.id)));
  const read = new Set(nodes.flatMap(node => node.inputs.map(t => t.id)));
  return {
    inputs: nodes.flatMap(node => node.inputs.map(t => t.id).filter(id => !produced.has(id))),
    outputs: nodes.flatMap(node => {
      if (node.kind === 'End') return node.inputs.map(t => t.id);
      return node.outputs.map(t => t.id).filter(id => !read.has(id));
    }),
  };
}

function writeOperation(node: GraphNode): OneDnnOp {
  const { id, name, kind, given, operation, annotations, inputs, outputs } = node;
  const attrs: Record<string, OneDnnAttribute> = {};
  for (const [key, value] of Object.entries(given)) {
    attrs[key] = writeAttribute(operation.attributes[key].type, value);
  }
  for (const [key, { type, value }] of Object.entries(annotations)) attrs[key] = writeAttribute(type, value);
  return { id, name, kind, attrs, inputs: inputs.map(writeTensor), outputs: outputs.map(writeTensor) };
}

function writeAttribute(type: AttributeType, value: AttributeValue): OneDnnAttribute {
  if (typeof value === 'boolean') return { type, value: Number(value) };
  if (typeof value === 'string') return { type, value };
  const write = type.startsWith('f32') ? writeFloat : (x: number) => x;
  return { type, value: typeof value === 'number' ? write(value) : value.map(write) };
}

function writeFloat(x: number): number | string {
  return floatNames.find(name => Object.is(namedFloats[name], x)) ?? x;
}

const floatNames = Object.keys(namedFloats);

function writeTensor({ id, dtype, shape, strides, layout, property }: LogicalTensor): OneDnnTensor {
  const own = strides ?? (layout === 'strided' && isKnown(shape) ? contiguousStrides(shape) : null);
  return {
    id,
    dtype: oneDnnDType(dtype),
    shape: writeExtents(shape),
    stride: writeExtents(own),
    layout_type: layout,
    property_type: property,
  };
}

function writeExtents(list: readonly number[] | null): number[] {
  return list === null ? [UNKNOWN_DIMENSION] : list.map(n => (n === UNKNOWN ? UNKNOWN_DIMENSION : n));
}

/**
 * Writes a graph as the text of oneDNN's JSON, with the exact digits of −2⁶³, which JavaScript would print
 * rounded.
 * @throws InvalidArgumentError for a value that is not a graph.
 */
export function formatJson(graph: { toJSON(): OneDnnGraph }): string {
  checkGraph('graph', graph);
  const text = JSON.stringify(graph.toJSON(), null, 2);
  return text.replaceAll(/-9223372036854776000\b/g, '-9223372036854775808');
}
