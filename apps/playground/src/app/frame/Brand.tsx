const rows = [0, 1, 2];

/** The name of the page, which links to the first page. */
export function Brand() {
  return (
    <a className="brand" href="#/">
      <svg viewBox="0 0 20 20" aria-hidden="true">
        {rows.flatMap(row =>
          rows
            .filter(col => col <= row)
            .map(col => (
              <rect
                key={`${row}${col}`}
                x={col * 7}
                y={row * 7}
                width="5.5"
                height="5.5"
                rx="1.2"
                opacity={1 - 0.25 * (row - col)}
              />
            )),
        )}
      </svg>
      <span>Tilewise</span>
    </a>
  );
}
