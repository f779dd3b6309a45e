// Width of comments in source files: finds lines with a comment that are too wide, and wraps them.

/** The largest width of a line with a comment, in columns. */
export const maxWidth = 110;

/**
 * The numbers (from 1) of the lines that contain a comment and are too wide. A line that is one long word,
 * such as a URL, does not count.
 */
export function wideComments(text) {
  return text.split('\n').flatMap((line, n) => {
    if ([...line].length <= maxWidth || !hasComment(line)) return [];
    return line.replace(/^[\s/*]+/, '').includes(' ') ? [n + 1] : [];
  });
}

const commentLine = /^\s*(?:\/\/|\/\*|\*(?:\s|\/|$))/;
/** A comment after code. No quote may follow it, so that it is not inside a string. */
const trailingComment = /^(\s*)(.*?\S)\s+(\/\/ [^'"`]*)$/;

/** Directives for the linter must stay in one line. */
const directive = /biome-ignore/;

const hasComment = line => (!directive.test(line) && commentLine.test(line)) || trailingComment.test(line);

/**
 * The text with every comment that is too wide wrapped. Code does not change, except that a comment after
 * code moves above it.
 */
export function wrapComments(text) {
  const lines = text.split('\n').flatMap(line => {
    const trailing = [...line].length > maxWidth && !commentLine.test(line) && trailingComment.exec(line);
    return trailing ? [trailing[1] + trailing[3], trailing[1] + trailing[2]] : [line];
  });
  const result = [];
  for (let n = 0; n < lines.length; ) {
    const end = endOfComment(lines, n);
    const comment = lines.slice(n, end);
    const isWide = comment.some(line => commentLine.test(line) && [...line].length > maxWidth);
    result.push(...(isWide ? wrapComment(comment) : comment));
    n = end;
  }
  return result.join('\n');
}

/** The index after the comment that begins at a line, or after that line of code. */
function endOfComment(lines, start) {
  const isLine = line => /^\s*\/\/ /.test(line ?? '');
  let end = start + 1;
  if (/^\s*\/\*/.test(lines[start])) {
    while (!lines[end - 1].includes('*/') && end < lines.length) end++;
  } else if (isLine(lines[start])) {
    while (isLine(lines[end])) end++;
  }
  return end;
}

function wrapComment(lines) {
  const indent = /^\s*/.exec(lines[0])[0];
  if (lines.some(line => directive.test(line))) return lines;
  if (lines[0].trim().startsWith('//')) {
    return wrapText(
      lines.map(line => line.trim().slice(3)),
      maxWidth - indent.length - 3,
    ).map(line => `${indent}// ${line}`);
  }
  if (!lines.at(-1).trimEnd().endsWith('*/')) return lines;
  const inside = lines.map(line =>
    line
      .replace(/^\s*\/\*\*?\s?/, '')
      .replace(/\s*\*\/\s*$/, '')
      .replace(/^\s*\*\s?/, ''),
  );
  while (inside.length > 0 && inside[0].trim() === '') inside.shift();
  while (inside.length > 0 && inside.at(-1).trim() === '') inside.pop();
  const wrapped = wrapText(inside, maxWidth - indent.length - 3);
  const opener = lines[0].trim().startsWith('/**') ? '/**' : '/*';
  return [`${indent}${opener}`, ...wrapped.map(line => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}

/**
 * Wraps the paragraphs that contain a line that is too wide. List items, tags, tables and code begin their
 * own paragraphs.
 */
function wrapText(lines, width) {
  const paragraphs = [];
  let isCode = false;
  for (const line of lines) {
    const fence = line.startsWith('```');
    const last = paragraphs.at(-1);
    const begins = isCode || fence || /^(?:@|- |\| |\d+\. |\s{2,}|$)/.test(line);
    if (last && !begins && last.joins) last.lines.push(line);
    else
      paragraphs.push({
        lines: [line],
        joins: !isCode && !fence && line !== '' && !/^(?:\| |\s{2,})/.test(line),
      });
    if (fence) isCode = !isCode;
  }
  return paragraphs.flatMap(({ lines, joins }) =>
    joins && lines.some(line => [...line].length > width) ? fill(lines, width) : lines,
  );
}

function fill(lines, width) {
  const indent = /^- /.test(lines[0]) ? '  ' : '';
  // A link such as {@link name} stays in one line.
  const words = lines.join(' ').match(/(?:\{@\w+ [^}]*\}|\S)+/g) ?? [];
  const filled = [words[0]];
  for (const word of words.slice(1)) {
    const line = `${filled.at(-1)} ${word}`;
    if ([...line].length <= width) filled[filled.length - 1] = line;
    else filled.push(indent + word);
  }
  return filled;
}
