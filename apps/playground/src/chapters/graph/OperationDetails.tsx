import type { Graph, GraphNode, LogicalTensor, Partition } from '@tilewise/graph';
import { type TensorNames, tensorName } from '../../logic/graph/attention-graph.ts';
import { operationSummary } from '../../logic/graph/operation-summaries.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { toneOf } from './figure/tone.ts';

/** The details of an operation: its attributes, its tensors, and its partition. */
export function OperationDetails(props: {
  readonly id: string;
  readonly graph: Graph;
  readonly names: TensorNames;
  readonly node: GraphNode;
  readonly partition: Partition | undefined;
}) {
  const { id, graph, names, node, partition } = props;
  const text = useChapterText('graph');
  const { operation, attributes } = node;
  const tensorRows = (tensors: readonly LogicalTensor[], ports: GraphNode['operation']['inputs']) =>
    tensors
      // An operation may read a tensor twice.
      .map((t, n) => ({ t, key: `${n} ${t.id}`, port: ports[Math.min(n, ports.length - 1)]?.name }))
      .map(({ t, key, port }) => (
        <tr key={key}>
          <th scope="row">
            <code>{port}</code>
          </th>
          <td>{tensorName(t, names)}</td>
          <td>{t.dtype}</td>
          <td>{shapeText(graph.topology.shapeOf(t.id))}</td>
        </tr>
      ));
  const given = Object.entries(attributes);
  return (
    <section className="graph-details" id={id} aria-label={text.details}>
      <h3>
        {node.kind} {node.name && <small>{node.name}</small>}
      </h3>
      <p lang="en">{operationSummary(node.kind)}</p>
      {partition && (
        <p className="graph-badge" data-tone={toneOf(partition)}>
          <code>{partition.kind}</code> {text.tones[toneOf(partition)]}
        </p>
      )}
      <div className="scroll-x">
        <table className="graph-tensors">
          <thead className="visually-hidden">
            <tr>
              <th scope="col">{text.port}</th>
              <th scope="col">{text.tensor}</th>
              <th scope="col">{text.dtype}</th>
              <th scope="col">{text.shape}</th>
            </tr>
          </thead>
          <tbody>
            <tr className="graph-group">
              <th scope="rowgroup" colSpan={4}>
                {text.reads}
              </th>
            </tr>
            {tensorRows(node.inputs, operation.inputs)}
          </tbody>
          {node.outputs.length > 0 && (
            <tbody>
              <tr className="graph-group">
                <th scope="rowgroup" colSpan={4}>
                  {text.gives}
                </th>
              </tr>
              {tensorRows(node.outputs, operation.outputs)}
            </tbody>
          )}
        </table>
      </div>
      {given.length > 0 && (
        <dl className="graph-attributes">
          {given.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{String(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

/** Writes a shape as `1 × 4 × 64`, with a question mark for an unknown extent. */
export function shapeText(shape: readonly number[] | null): string {
  if (shape === null) return '?';
  return shape.length === 0 ? '[]' : shape.map(n => (n < 0 ? '?' : n)).join(' × ');
}
