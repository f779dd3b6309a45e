import { operations } from '../../src/ops/table.ts';
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
      return `${docComment(ofFunction(kind, summary))}\n${declaration}`;
    });
}

/**
 * The summary of the function of an operation. Functions have options in camelCase instead of attributes,
 * some other defaults, and no optional results.
 */
function ofFunction(kind: string, summary: string): string {
  if (kind === 'SoftMax')
    return "e^(x − max) / Σ e^(x − max) along an axis, by default the last. A row of −∞ gives NaN, or, with the mode 'inf_as_zero', 0.";
  const attributes = Object.keys(operations.find(operation => operation.kind === kind)?.attributes ?? {});
  const own = summary
    .replace(/over axes\.$/, 'over axes, by default all.')
    .replace(/ With keep_stats, [^.]*\./, '')
    .replace('or the attribute', 'or the option');
  return own.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, name =>
    attributes.includes(name) ? name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) : name,
  );
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
