import { mapped } from './branches.ts';
import type { AttributeRecord, FunctionRecord, GraphRecord, NodeRecord } from './file/read-model.ts';
import type { NodeCall } from './node-call.ts';

type Attributes = NodeRecord['attributes'];

/** The maximum number of nodes that branches and functions may add to a model, and how deep they may nest. */
const [maxAdded, deepest] = [2 ** 18, 32];

/**
 * Checks the number of nodes that branches and functions have added so far, and how deep they are nested.
 * @throws InvalidOperationError beyond a limit, because each function may call others several times.
 */
export function checkAdded(call: NodeCall, added: number, nesting: number): void {
  if (added > maxAdded || nesting > deepest)
    call.fail(`stands for more than ${maxAdded} nodes, or for functions in more than ${deepest} others`);
}

/** A node of a function in which attributes that refer to those of the function have their values. */
function resolved(node: NodeRecord, given: Attributes): NodeRecord {
  const attributes = [...node.attributes].flatMap(([name, own]): [string, AttributeRecord][] => {
    if (own.kind === 'graph') {
      const nodes = own.value.nodes.map(inner => resolved(inner, given));
      return [[name, { kind: 'graph', value: { ...own.value, nodes } }]];
    }
    const value = own.kind === 'reference' ? given.get(own.value) : own;
    return value ? [[name, value]] : [];
  });
  return { ...node, attributes: new Map(attributes) };
}

/**
 * The operators that a node which calls a function stands for, with names of their own and the node's inputs
 * and attributes.
 */
export function functionBody(call: NodeRecord, record: FunctionRecord): GraphRecord {
  const given = new Map([...record.defaults, ...call.attributes]);
  const [prefix = ''] = call.outputs;
  const nodes = record.nodes.map(node => {
    const { name, ...own } = resolved(node, given);
    return { ...own, name: `${call.name}/${name}` };
  });
  const outputs = record.outputs.map(name => ({ name, type: null, shape: null }));
  return mapped({ nodes, outputs, inputs: [], initializers: [] }, name => {
    const n = record.inputs.indexOf(name);
    if (n >= 0) return call.inputs[n] ?? '';
    return name === '' ? '' : `${prefix}/${name}`;
  });
}
