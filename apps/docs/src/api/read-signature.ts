import ts from 'typescript-5.9';

const printer: ts.Printer = ts.createPrinter({ removeComments: true });

/** Whether a doc comment marks a declaration as one that only the project's own packages use. */
export const isInternal = (node: ts.Node): boolean =>
  ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'internal');

/** A declaration as TypeScript, without comments and without `@internal` members. */
export function signatureOf(node: ts.Node): string {
  if (ts.isSourceFile(node)) return '';
  return (
    printer
      .printNode(ts.EmitHint.Unspecified, withoutInternals(node), node.getSourceFile())
      .replace(/^export (declare )?/, '')
      .replace(/^ +#private;\n/gm, '')
      .replace(/^( {4})+/gm, indent => ' '.repeat(indent.length / 2))
      // The printer writes each element of a tuple on a line of its own.
      .replace(/\[\n[^[\](){}]*\]/g, tuple =>
        tuple.replace(/\s+/g, ' ').replace(/^\[ | \]$/g, end => end.trim()),
      )
      .split('\n')
      .map(line => (line.length > widest ? brokenAtCommas(line) : line))
      .join('\n')
  );
}

const withoutInternals = (node: ts.Node): ts.Node =>
  ts.visitEachChild(node, child => (isInternal(child) ? undefined : child), undefined);

/** The number of characters in a line of code that a laptop shows. */
const widest = 70;

/** Writes a long signature with each parameter on its own line. */
function brokenAtCommas(line: string): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const open = line.indexOf('(');
  let depth = 0;
  let text = '';
  let isClosed = false;
  for (const [n, letter] of [...line].entries()) {
    // The > of an arrow does not close a bracket.
    if ('([{<'.includes(letter)) depth++;
    else if (')]}>'.includes(letter) && line[n - 1] !== '=') depth--;
    if (open < 0 || n < open || isClosed) text += letter;
    else if (n === open) text += `(\n${indent}  `;
    else if (letter === ',' && depth === 1) text += `,\n${indent} `;
    else if (letter === ')' && depth === 0) {
      text += `\n${indent})`;
      isClosed = true;
    } else text += letter;
  }
  return text;
}
