import { formatJson, type Graph } from '@tilewise/graph';
import { type DragEvent, useState } from 'react';
import type { GraphSource } from '../../graph/report.ts';
import { useText } from '../../text/TextProvider.tsx';
import { FileButton } from '../../ui/FileButton.tsx';
import { Rich } from '../../ui/Rich.tsx';

/** Takes a graph in oneDNN's format, dropped or chosen, and gives the one that is shown. */
export function FileDrop(props: {
  readonly source: GraphSource;
  readonly graph: Graph | null;
  readonly onFile: (file: GraphSource | null) => void;
}) {
  const { source, graph, onFile } = props;
  const text = useText().graph;
  const [over, setOver] = useState(false);
  const take = async (file: File): Promise<void> =>
    onFile({ kind: 'file', name: file.name, text: await file.text() });
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file) take(file);
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
      <FileButton label={text.chooseFile} accept=".json,application/json" onFile={take} />
      <button type="button" className="button" disabled={!graph} onClick={save}>
        {text.saveFile}
      </button>
    </fieldset>
  );
}
