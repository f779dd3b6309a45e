/** Joins the texts for the numbers 0 to n − 1. */
export const repeat = (n: number, text: (k: number) => string, separator = '\n'): string =>
  Array.from({ length: n }, (_, k) => text(k)).join(separator);

/** Joins statements, one per line. Values that are not text, or are empty, give no line. */
export const statements = (...texts: readonly (string | false | null | undefined)[]): string =>
  texts.filter(Boolean).join('\n');

/** The names of the values that are truthy. */
export const namesOf = <Name extends string>(values: Readonly<Record<Name, unknown>>): Name[] =>
  (Object.keys(values) as Name[]).filter(name => values[name]);

/** Indents WGSL by its brackets, and removes blank lines at the ends of blocks and after comments. */
export function formatWgsl(text: string): string {
  const lines: string[] = [];
  let depth = 0;
  for (const line of text.split('\n').map(raw => raw.trim())) {
    const before = lines.at(-1) ?? '';
    if (!line) {
      if (!/^$|\{$|^ *\/\//.test(before)) lines.push('');
      continue;
    }
    const code = line.replace(/\/\/.*/, '');
    const [closing] = code.match(/^[)\]}]*/) ?? [''];
    if (closing && !before) lines.pop();
    // A line that begins with an operator continues the previous line.
    const isContinued = /^(&&|\|\||[&|+*] )/.test(code);
    lines.push('  '.repeat(depth - closing.length + Number(isContinued)) + line);
    depth += (code.match(/[([{]/g) ?? []).length - (code.match(/[)\]}]/g) ?? []).length;
  }
  return lines.join('\n');
}
