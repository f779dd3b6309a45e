import { summaries } from './summaries.ts';

const widest = 106;

/**
 * The source of the operation functions, with the summary of each operation as the doc comment of its
 * function.
 */
export function withOperationComments(source: string): string {
  return source
    .replace(/^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n(?=export const)/gm, '')
    .replace(/^export const \w+: OperationFunction<'(\w+)'>/gm, (declaration, kind) => {
      const summary = summaries.get(kind);
      if (summary === undefined) return declaration;
      // The functions have other defaults than the operations.
      const own = summary.replace(/over axes\.$/, 'over axes, by default all.');
      const comment = docComment(kind === 'SoftMax' ? `${own} The default axis is the last.` : own);
      return `${comment}\n${declaration}`;
    });
}

function docComment(text: string): string {
  if (text.length <= widest - 3) return `/** ${text} */`;
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines[lines.length - 1];
    if (line !== '' && line.length + word.length > widest) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return `/**\n${lines.map(line => ` * ${line}`).join('\n')}\n */`;
}
