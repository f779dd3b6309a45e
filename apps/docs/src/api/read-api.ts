import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-5.9';
import {
  type ApiMember,
  type ApiTag,
  documentationOf,
  hiddenMembersOf,
  membersOf,
  tagsOf,
} from './read-members.ts';

export type { ApiMember } from './read-members.ts';

const packages = fileURLToPath(new URL('../../../../packages', import.meta.url));

/** One exported name: its declarations as TypeScript, without comments, and its documentation as Markdown. */
export interface ApiExport {
  readonly name: string;
  readonly kind: 'function' | 'class' | 'interface' | 'type' | 'constant' | 'namespace';
  readonly signature: string;
  readonly docs: string;
  readonly tags: readonly ApiTag[];
  readonly members: readonly ApiMember[];
}

/** The exports of one import path. */
export interface ApiModule {
  /** The import path, such as `@tilewise/core/cpu`. */
  readonly path: string;
  readonly exports: readonly ApiExport[];
}

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports: Record<string, { readonly types?: string } | string>;
}

/** The declaration files of all public import paths, in the order of the packages' names. */
function entryPoints(): { readonly path: string; readonly file: string }[] {
  return readdirSync(packages).flatMap(folder => {
    const manifest = JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8')) as Manifest;
    if (manifest.private) return [];
    return Object.entries(manifest.exports).flatMap(([key, target]) =>
      typeof target === 'object' && target.types
        ? [{ path: manifest.name + key.slice(1), file: join(packages, folder, target.types) }]
        : [],
    );
  });
}

/**
 * Reads the exports of every public import path from the declaration files of the built packages.
 * @throws Error if a declaration file is missing: build the packages first.
 */
export function readApi(): ApiModule[] {
  const entries = entryPoints();
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: [],
      skipLibCheck: true,
    },
  );
  const checker = program.getTypeChecker();
  const modules = entries.map(({ path, file }) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    if (!module) throw new Error(`${path}: ${file} is missing or exports nothing; build the packages first`);
    return { path, symbols: checker.getExportsOfModule(module) };
  });
  const exported = new Set(
    modules.flatMap(({ symbols }) => symbols.map(symbol => declared(checker, symbol))),
  );
  return modules.map(({ path, symbols }) => {
    const exports = symbols
      .map(symbol => readExport(checker, symbol, exported))
      .sort((a, b) => a.name.localeCompare(b.name));
    return { path, exports };
  });
}

/** The symbol that an export stands for. */
const declared = (checker: ts.TypeChecker, exported: ts.Symbol): ts.Symbol =>
  exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;

const isOurs = (file: string): boolean => file.startsWith(packages);

const printer: ts.Printer = ts.createPrinter({ removeComments: true });

function readExport(checker: ts.TypeChecker, exported: ts.Symbol, others: ReadonlySet<ts.Symbol>): ApiExport {
  const symbol = declared(checker, exported);
  const declarations = (symbol.declarations ?? []).map(node =>
    ts.isVariableDeclaration(node) ? node.parent.parent : node,
  );
  const docs = documentationOf(checker, symbol) || documentationOf(checker, exported);
  return {
    name: exported.name,
    kind: kindOf(symbol),
    signature: declarations.map(signatureOf).join('\n'),
    docs,
    tags: tagsOf(checker, symbol),
    members: [
      ...declarations.flatMap(node => membersOf(checker, node)),
      ...hiddenMembersOf(checker, symbol, others, isOurs),
    ],
  };
}

function kindOf({ flags }: ts.Symbol): ApiExport['kind'] {
  if (flags & ts.SymbolFlags.Function) return 'function';
  if (flags & ts.SymbolFlags.Class) return 'class';
  if (flags & ts.SymbolFlags.Interface) return 'interface';
  if (flags & ts.SymbolFlags.Variable) return 'constant';
  return flags & ts.SymbolFlags.Module ? 'namespace' : 'type';
}

function signatureOf(node: ts.Node): string {
  if (ts.isSourceFile(node)) return '';
  return (
    printer
      .printNode(ts.EmitHint.Unspecified, node, node.getSourceFile())
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
