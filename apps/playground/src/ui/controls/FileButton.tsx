/** A button that opens a file. */
export function FileButton(props: {
  readonly label: string;
  readonly accept: string;
  readonly onFile: (file: File) => void;
}) {
  const { label, accept, onFile } = props;
  return (
    <label className="button file-button">
      {label}
      <input
        className="visually-hidden"
        type="file"
        accept={accept}
        onChange={event => {
          const [file] = event.currentTarget.files ?? [];
          if (file) onFile(file);
          // Lets the visitor choose the same file again.
          event.currentTarget.value = '';
        }}
      />
    </label>
  );
}
