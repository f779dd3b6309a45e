/** One head's attention over one sequence. */
export interface HeadPicture {
  /** How each token is written, one character wide. */
  readonly names: readonly string[];
  /** (S, S) row-major: row i is the distribution of token i over tokens j. */
  readonly weights: Float32Array;
  /** Rows where something is asked, and the column that the head should look at. */
  readonly questions: readonly { readonly row: number; readonly column: number }[];
  /** ANSI colours instead of shades. */
  readonly colour: boolean;
}

const shades = ['  ', '░░', '▒▒', '▓▓', '██'];
/** The codes of the 256 terminal colours, black over violet and orange to light yellow. */
const colours = [16, 17, 54, 90, 126, 162, 203, 209, 215, 229];

/**
 * A head as text: queries downwards, keys to the right, the darker (on a terminal, the brighter) the more
 * attention. Rows with a question are marked, and say what they should look at and how much they do.
 */
export function drawHead({ names, weights, questions, colour }: HeadPicture): string {
  const S = names.length;
  const columnAt = new Map(questions.map(({ row, column }) => [row, column]));
  const lines = [`    ${names.map(name => `${name} `).join('')}  ← keys`];
  for (let i = 0; i < S; i++) {
    const row = weights.subarray(i * S, (i + 1) * S);
    const cells = [...row.subarray(0, i + 1)].map(weight => drawCell(weight, colour)).join('');
    const column = columnAt.get(i);
    const mark = column === undefined ? ' ' : '?';
    const end =
      column === undefined
        ? ''
        : `${'  '.repeat(S - i - 1)}  ${names[column]} gets ${Math.round(100 * row[column])}%`;
    lines.push(` ${mark}${names[i]} ${cells}${end}`.trimEnd());
  }
  return [...lines, ' ↑ queries'].join('\n');
}

function drawCell(weight: number, colour: boolean): string {
  const level = (levels: number): number => Math.min(levels - 1, Math.floor(weight * levels));
  return colour ? `\x1b[48;5;${colours[level(colours.length)]}m  \x1b[0m` : shades[level(shades.length)];
}
