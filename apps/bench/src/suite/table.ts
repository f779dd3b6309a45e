/** One row of results by column; numbers are printed with three significant digits. */
export type Row = Readonly<Record<string, string | number>>;

/**
 * Formats rows as aligned text with a header. The columns are those of the first row; numbers are
 * right-aligned.
 */
export function table(rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const columns = Object.keys(rows[0]).map(name => {
    const cells = rows.map(row => show(row[name] ?? ''));
    const width = Math.max(name.length, ...cells.map(cell => cell.length));
    const right = rows.every(row => typeof row[name] !== 'string');
    const pad = (text: string): string => (right ? text.padStart(width) : text.padEnd(width));
    return [name, ...cells].map(pad);
  });
  return columns[0]
    .map((_, line) =>
      columns
        .map(column => column[line])
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function show(cell: string | number): string {
  if (typeof cell === 'string') return cell;
  if (Number.isInteger(cell)) return String(cell);
  return Math.abs(cell) >= 100 ? cell.toFixed(0) : cell.toPrecision(3);
}
