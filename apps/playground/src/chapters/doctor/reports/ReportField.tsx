import { useId, useState } from 'react';
import { useChapterText } from '../../../text/useChapterText.ts';
import { FileButton } from '../../../ui/controls/FileButton.tsx';

/** The text of a report, and its file name if it came from a file. */
export interface ReportInput {
  readonly text: string;
  readonly name: string;
}

/** Files larger than this are not read: no report is nearly as large. */
const maxBytes = 4 * 2 ** 20;

/** Takes a report that is dropped, chosen or pasted. */
export function ReportField(props: {
  readonly label: string;
  readonly input: ReportInput;
  /** What is wrong with the report. */
  readonly error: string | null;
  readonly placeholder: string;
  readonly onInput: (input: ReportInput) => void;
}) {
  const { label, input, error, placeholder, onInput } = props;
  const text = useChapterText('doctor');
  const id = useId();
  const [over, setOver] = useState(false);
  const [tooLarge, setTooLarge] = useState(false);
  const take = async (file: File): Promise<void> => {
    setTooLarge(file.size > maxBytes);
    if (file.size <= maxBytes) onInput({ text: await file.text(), name: file.name });
  };
  return (
    // Dropping a file is one way; the field and the button are others, which the keyboard can use, too.
    <fieldset
      className="report-field"
      data-over={over}
      onDragOver={() => setOver(true)}
      onDragLeave={() => setOver(false)}
      onDrop={event => {
        event.preventDefault();
        setOver(false);
        const [file] = event.dataTransfer.files;
        if (file) take(file);
      }}
    >
      <legend>{label}</legend>
      <label className="visually-hidden" htmlFor={id}>
        {text.reportText(label)}
      </label>
      <textarea
        id={id}
        rows={4}
        spellCheck={false}
        value={input.text}
        placeholder={placeholder}
        aria-invalid={error !== null}
        aria-describedby={error === null ? undefined : `${id}-error`}
        onChange={event => {
          setTooLarge(false);
          onInput({ text: event.currentTarget.value, name: '' });
        }}
      />
      <div className="toolbar">
        <FileButton label={text.chooseFile} accept=".json,application/json" onFile={take} />
        {input.text !== '' && (
          <button type="button" className="button" onClick={() => onInput({ text: '', name: '' })}>
            {text.clear}
          </button>
        )}
        <span className="note">{input.name}</span>
      </div>
      {(error !== null || tooLarge) && (
        <p className="failure" id={`${id}-error`} role="alert">
          <strong>{text.noReport}</strong> {tooLarge ? text.tooLarge : <span lang="en">{error}</span>}
        </p>
      )}
    </fieldset>
  );
}
