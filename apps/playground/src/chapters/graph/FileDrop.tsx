import { formatJson, type Graph } from '@tilewise/graph';
import { useEffect, useRef, useState } from 'react';
import type { GraphFile } from '../../logic/graph/kept-file.ts';
import type { GraphSource } from '../../logic/graph/report.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { FileButton } from '../../ui/controls/FileButton.tsx';
import { saveFile } from '../../ui/controls/save-file.ts';
import { Rich } from '../../ui/prose/Rich.tsx';

/**
 * Takes a graph in oneDNN's format, dropped anywhere on the page or chosen, and saves the graph on the page.
 */
export function FileDrop(props: {
  readonly source: GraphSource;
  readonly graph: Graph | null;
  readonly onFile: (file: GraphFile | null) => void;
}) {
  const { source, graph, onFile } = props;
  const text = useChapterText('graph');
  const [over, setOver] = useState(false);
  const take = async (file: File): Promise<void> =>
    onFile({ kind: 'file', name: file.name, text: await file.text() });
  const latest = useRef(take);
  latest.current = take;
  // The whole page takes files: a browser would open a file that is dropped beside the strip, and leave the
  // page.
  useEffect(() => {
    const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') ?? false;
    const onDragOver = (event: DragEvent): void => {
      if (hasFiles(event)) setOver(true);
    };
    const onDragLeave = ({ relatedTarget }: DragEvent): void => {
      if (relatedTarget === null) setOver(false);
    };
    const onDrop = ({ dataTransfer }: DragEvent): void => {
      setOver(false);
      const file = dataTransfer?.files[0];
      if (file) latest.current(file);
    };
    window.addEventListener('dragover', onDragOver);
    window.addEventListener('dragleave', onDragLeave);
    window.addEventListener('drop', onDrop);
    return () => {
      window.removeEventListener('dragover', onDragOver);
      window.removeEventListener('dragleave', onDragLeave);
      window.removeEventListener('drop', onDrop);
    };
  }, []);
  const save = (): void => {
    if (!graph) return;
    saveFile('graph.json', formatJson(graph));
  };
  return (
    // Dropping a file is one way; the button beside it is another, which the keyboard can use, too.
    <fieldset className="graph-drop" data-over={over}>
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
