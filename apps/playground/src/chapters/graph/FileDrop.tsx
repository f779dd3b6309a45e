import { formatJson, type Graph } from '@tilewise/graph';
import { type DragEvent, useId, useState } from 'react';
import type { GraphSource } from '../../graph/report.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Rich } from '../../ui/Rich.tsx';

/** Takes a graph in oneDNN's format, dropped or chosen, and gives the one that is shown. */
export function FileDrop(props: {
  readonly source: GraphSource;
  readonly graph: Graph | null;
  readonly onFile: (file: GraphSource | null) => void;
}) {
  const { source, graph, onFile } = props;
  const text = useText().graph;
  const input = useId();
  const [over, setOver] = useState(false);
  const take = async (file: File | undefined): Promise<void> => {
    if (file) onFile({ kind: 'file', name: file.name, text: await file.text() });
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files[0]);
  };
  const save = (): void => {
    if (!graph) return;
    const url = URL.createObjectURL(new Blob([formatJson(graph)], { type: 'application/json' }));
    Object.assign(document.createElement('a'), { href: url, download: 'graph.json' }).click();
    URL.revokeObjectURL(url);
  };
  return (
    // Dropping is one way; the button beside it is another, for the keyboard too.
    <fieldset
      className="graph-drop"
      data-over={over}
      onDragOver={event => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <legend className="visually-hidden">{text.file}</legend>
      {source.kind === 'file' ? (
        <>
          <span>
            <strong>{source.name}</strong>
          </span>
          <button type="button" className="button" onClick={() => onFile(null)}>
            {text.leaveFile}
          </button>
        </>
      ) : (
        <span>
          <Rich text={text.drop} />
        </span>
      )}
      <label className="button" htmlFor={input}>
        {text.chooseFile}
      </label>
      <input
        className="visually-hidden"
        id={input}
        type="file"
        accept=".json,application/json"
        onChange={event => {
          take(event.currentTarget.files?.[0]);
          event.currentTarget.value = '';
        }}
      />
      <button type="button" className="button" disabled={!graph} onClick={save}>
        {text.saveFile}
      </button>
    </fieldset>
  );
}
