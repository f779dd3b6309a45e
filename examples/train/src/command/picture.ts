import type { Question } from '../data/recall.ts';

const shades = ['  ', '░░', '▒▒', '▓▓', '██'];
/** The codes of the 256 terminal colours, from black through violet and orange to light yellow. */
const colours = [16, 17, 54, 90, 126, 162, 203, 209, 215, 229].map(code => `\x1b[48;5;${code}m  \x1b[0m`);

/**
 * A head as text: queries downwards, keys to the right; the darker (on a terminal, the brighter) a cell, the
 * more attention. Rows with a question are marked, with the token that they should look at and the attention
 * that it gets.
 * @param names the text of each token, one character wide.
 * @param weights (S, S) row-major: row i is the distribution of token i over tokens j.
 * @param colour ANSI colours instead of shades.
 */
export function drawHead(
  names: readonly string[],
  weights: Float32Array,
  questions: readonly Question[],
  colour: boolean,
): string {
  const S = names.length;
  const cells = colour ? colours : shades;
  const cell = (weight: number): string =>
    cells[Math.min(cells.length - 1, Math.floor(weight * cells.length))];
  const lines = names.map((name, i) => {
    const row = weights.subarray(i * S, (i + 1) * S);
    const asked = questions.find(({ from }) => from === i);
    const answer = asked && `${names[asked.to]} gets ${Math.round(100 * row[asked.to])}%`;
    const end = answer ? `${'  '.repeat(S - i - 1)}  ${answer}` : '';
    return ` ${asked ? '?' : ' '}${name} ${Array.from(row.subarray(0, i + 1), cell).join('')}${end}`.trimEnd();
  });
  return [`    ${names.join(' ')}   ← keys`, ...lines, ' ↑ queries'].join('\n');
}
